import { connect, createServer } from 'node:net';

/**
 * Below the ports that systems hand out to outgoing connections (from 32768 on Linux): a server that is down for a
 * moment must not find its port taken by a client, not even by one that tries to reach it.
 */
const LOWEST = 17_000;
const HIGHEST = 32_000;

/** A TCP port on 127.0.0.1 that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
  throw new Error(`no port between ${LOWEST} and ${HIGHEST} is free on 127.0.0.1`);
}

/** Whether a server could listen on a port of 127.0.0.1 now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Whether somebody accepts connections on a port of 127.0.0.1 now. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

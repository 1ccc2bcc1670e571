import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';

/** Where `npm start` writes itself down, under the folder that it runs in. */
const DEV_FILE = '.time-context/dev.json';

const devInstance = z.object({ address: z.string().min(1), pid: z.int().positive() });

/** A running `npm start`: its Temporal server and its process. */
export type DevInstance = z.infer<typeof devInstance>;

/** The `npm start` that runs in this folder. One that died without taking its file along is none. */
export function readDevInstance(): DevInstance | undefined {
  try {
    const found = devInstance.parse(JSON.parse(readFileSync(DEV_FILE, 'utf8')));
    return lives(found.pid) ? found : undefined;
  } catch {
    // No file, or nothing that we wrote.
    return undefined;
  }
}

/** Lets the command line in this folder find the server. */
export async function writeDevInstance(instance: DevInstance): Promise<void> {
  await mkdir(dirname(DEV_FILE), { recursive: true });
  await writeFile(DEV_FILE, `${JSON.stringify(instance)}\n`);
}

/** Takes back what this process wrote, and nothing else. */
export async function removeDevInstance(): Promise<void> {
  if (readDevInstance()?.pid === process.pid) await rm(DEV_FILE, { force: true });
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

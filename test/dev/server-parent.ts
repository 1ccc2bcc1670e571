/** Starts a dev server, says its pid and address, and waits to be killed. Run by temporal-server.test.ts. */
import { startDevServer } from '../../src/dev/temporal-server.ts';

const [cliPath, dbFile] = process.argv.slice(2);
const { pid, port } = await startDevServer({ cliPath: cliPath!, dbFile: dbFile! });
console.log(JSON.stringify({ pid, port }));

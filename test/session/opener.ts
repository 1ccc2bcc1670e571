/** Says when it begins to open a database, opens it, and ends. */
import { openDatabase } from '../../src/session/database.ts';

process.send?.('opening');
await (await openDatabase(`file:${process.argv[2]}`)).destroy();
process.disconnect?.();

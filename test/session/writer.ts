/** One of several processes that append to the same ten sessions at once. */
import { openDatabase } from '../../src/session/database.ts';
import { EMPTY_SESSION, SessionLog } from '../../src/session/session-log.ts';

const [path, name] = process.argv.slice(2);
const log = new SessionLog(await openDatabase(`file:${path}`));
for (let n = 0; n < 30; n += 1) {
  await Promise.all(
    Array.from({ length: 10 }, (_, session) =>
      log.write('test', async (tx) => {
        const sessionId = `s${session}`;
        const state = await tx.session(sessionId);
        if (!state) await tx.create(sessionId);
        await tx.append(sessionId, state ?? EMPTY_SESSION, [
          { event: { type: 'test/note', data: { name: name!, n } } },
        ]);
      }),
    ),
  );
}
await log.close();

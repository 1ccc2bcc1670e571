/** What needs many steps or many prompts: a turn that outgrows a run's history, and prompts that hit closing turns. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventData, UserMessage } from '../../src/contract.ts';
import { demoTools } from '../../src/tools/index.ts';
import { answerIn, Harness, readingsIn } from './harness.ts';

let agent: Harness;
beforeAll(async () => {
  agent = await Harness.start({
    tools: demoTools,
    maxSteps: 1_000,
    script: ({ messages }) => {
      const asked = messages.findLastIndex(({ content }) => content?.startsWith('steps '));
      const steps = asked < 0 ? 0 : Number(messages[asked]!.content!.slice('steps '.length));
      const done = messages.slice(Math.max(asked, 0)).filter(({ role }) => role === 'tool').length;
      return done < steps
        ? { calls: [{ name: 'convert_units', arguments: '{"value":1,"from":"km","to":"m"}' }] }
        : { text: 'done' };
    },
  });
});
afterAll(() => agent.close());

it('P18, P20: a turn that outgrows a run’s history goes on in the next run, as the same turn', {
  timeout: 180_000,
}, async () => {
  // 13 history events a step, and the server suggests a new run at 4,096.
  const steps = 330;
  const receipt = await agent.send('long', `steps ${steps}`);
  const events = await agent.turnOf(receipt);
  const all = await agent.events('long');
  expect(answerIn(events)).toBe('done');
  expect(all.filter(({ type }) => type === 'turn/start')).toHaveLength(1);
  expect(readingsIn(all).map(({ reading }) => reading!.step)).toEqual(
    Array.from({ length: steps + 1 }, (_, n) => n + 1),
  );
  await expect(agent.run('long').result()).resolves.toEqual({ turn: 1, reason: 'completed' });
  const { runId } = await agent.run('long').describe();
  expect(runId).not.toBe(receipt.runId);
  expect((all[0]!.data as EventData['turn/start']).turnKey).toBe(receipt.runId);
});

it('P25: of hundreds of prompts that hit closing turns, none is lost and none stands twice', {
  timeout: 180_000,
}, async () => {
  const senders = 8;
  const each = 40;
  const ids: string[] = [];
  await Promise.all(
    Array.from({ length: senders }, async (_, sender) => {
      for (let n = 0; n < each; n += 1) {
        const promptId = `${sender}-${n}`;
        await agent.send('hammer', `prompt ${promptId}`, { promptId });
        ids.push(promptId);
      }
    }),
  );
  for (const promptId of ids) await agent.turnOf({ sessionId: agent.id('hammer'), promptId, runId: '' });
  const prompts = (await agent.events('hammer'))
    .map(({ data }) => data as UserMessage)
    .filter(({ prompt }) => prompt)
    .map(({ source }) => (source as { rpcId: string }).rpcId);
  expect(prompts.toSorted()).toEqual(ids.toSorted());
  // Each sender's prompts stand in the order in which it sent them.
  for (let sender = 0; sender < senders; sender += 1) {
    const own = prompts.filter((id) => id.startsWith(`${sender}-`));
    expect(own).toEqual(Array.from({ length: each }, (_, n) => `${sender}-${n}`));
  }
});

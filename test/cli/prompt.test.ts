import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Harness, type RunningWorker } from '../agent/harness.ts';
import type { Script } from '../agent/scripted-model.ts';
import { cli, type RunOptions, startCli, temporaryFolder } from './command-line.ts';

const script: Script = ({ messages }) => {
  const prompt = messages.findLast(
    ({ role, content }) => role === 'user' && !/^Time sampled/.test(content ?? ''),
  )?.content;
  if (prompt === 'hang') return 'hang';
  if (prompt === 'no key') return { status: 401, body: '{"error":{"message":"who are \\u001b[31myou?"}}' };
  if (prompt === 'try again') return { status: 503 };
  if (prompt === 'cut') return { text: 'half', finish: 'length' };
  if (prompt === 'convert' && !messages.some(({ role }) => role === 'tool')) {
    return { calls: [{ name: 'convert_units', arguments: '{"value":1,"from":"km","to":"m"}' }] };
  }
  return { text: `you said ${prompt}` };
};

let agent: Harness;

beforeAll(async () => {
  const { demoTools } = await import('../../src/tools/index.ts');
  agent = await Harness.start({ script, tools: demoTools });
});
afterAll(() => agent.close());

/** The command line beside the harness's worker. */
function here(options: RunOptions = {}): RunOptions {
  return {
    ...options,
    env: {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      DATABASE_URL: agent.databaseUrl,
      TIME_CONTEXT_TASK_QUEUE: agent.taskQueue,
      ...options.env,
    },
  };
}

const prompt = (session: string, args: string[], options: RunOptions = {}) =>
  cli(['prompt', '--session', agent.id(session), ...args], here(options));

describe('prompt', () => {
  it('prints the receipt, the reading and the answer', async () => {
    const found = await prompt('plain', ['--time-zone', 'Asia/Shanghai', 'Is the shop open?']);
    expect(found.stderr).toBe('');
    const [receipt, ...rest] = found.stdout.trimEnd().split('\n');
    expect(receipt).toMatch(
      new RegExp(`^session ${agent.id('plain')}, turn run [0-9a-f-]{36}, prompt [0-9a-f-]{36}$`),
    );
    expect(rest[0]).toMatch(/^ {2}Time sampled while preparing turn 1, step 1: .*\+08:00\[Asia\/Shanghai\]$/);
    expect(rest.at(-1)).toBe('you said Is the shop open?');
    expect(found.code).toBe(0);
  });

  it('sends the zone of this machine unless told otherwise', async () => {
    const local = await prompt('zones', ['hi']);
    expect(local.stdout).toMatch(/Time zone of this request: Europe\/Berlin;/);
    const none = await prompt('zones', ['--time-zone', 'none', 'hi']);
    expect(none.stdout).toMatch(/Time zone of this request: unknown;/);
    const nowhere = await prompt('zones', ['hi'], { env: { TZ: 'Not/Real' } });
    expect(nowhere.stdout).toMatch(/Time zone of this request: unknown;/);
    expect(nowhere.stderr).toMatch(/^this machine's time zone .* is left out; allowed: UTC, or /);
    expect(nowhere.code).toBe(0);
  });

  it('prints one JSON object with --json', async () => {
    const found = await prompt('json', ['--json', '--prompt-id', 'p-1', 'convert']);
    expect(JSON.parse(found.stdout)).toEqual({
      sessionId: agent.id('json'),
      promptId: 'p-1',
      runId: expect.any(String),
      turn: 1,
      reason: { kind: 'completed' },
      answer: 'you said convert',
      readings: [
        { text: expect.stringMatching(/step 1/), reading: expect.objectContaining({ turn: 1, step: 1 }) },
        { text: expect.stringMatching(/step 2/), reading: expect.objectContaining({ turn: 1, step: 2 }) },
      ],
      calls: [
        {
          name: 'convert_units',
          arguments: expect.any(String),
          result: expect.stringMatching(/"result":1000/),
        },
      ],
    });
    expect(found).toMatchObject({ code: 0, stderr: '' });
  });

  it('changes nothing for a prompt id that is known', async () => {
    const first = await prompt('twice', ['--prompt-id', 'p', 'one']);
    const again = await prompt('twice', ['--prompt-id', 'p', 'one']);
    expect(again.stdout.split('\n').slice(1)).toEqual(first.stdout.split('\n').slice(1));
    expect(again).toMatchObject({ code: 0, stderr: '' });
    const other = await prompt('twice', ['--prompt-id', 'p', 'two']);
    expect(other.stdout).toMatch(/you said one\n$/);
    expect(other.stderr).toMatch(
      /prompt id "p" stands in the log with another text, and nothing was changed/,
    );
    const turns = (await agent.events('twice')).filter(({ type }) => type === 'turn/start');
    expect(turns).toHaveLength(1);
  });

  it('reads a text from the standard input', async () => {
    const found = await prompt('stdin', ['-'], { input: 'grüß dich\nund tschüß\n' });
    expect(found.stdout).toMatch(/you said grüß dich\nund tschüß\n$/);
    const whole = await prompt('stdin', ['-'], { input: `${'x'.repeat(256 * 1024)}\n` });
    expect(whole.code).toBe(0);
  });

  it.each([
    ['nothing', '', 'invalid-prompt'],
    ['5 MB', 'x'.repeat(5 * 1024 * 1024), 'prompt-too-large'],
    ['a byte too much', 'x'.repeat(256 * 1024 + 1), 'prompt-too-large'],
    ['no text', Buffer.from([0xff, 0xfe, 0x00, 0x80]), 'invalid-prompt'],
  ])('refuses %s on the standard input, and stores nothing', async (_, input, code) => {
    const found = await prompt('refused', ['-', '--json'], { input });
    expect(JSON.parse(found.stdout).error.code).toBe(code);
    expect(found.code).toBe(1);
    await expect(agent.log.header(agent.id('refused'))).rejects.toMatchObject({ code: 'unknown-session' });
  });

  it('leaves with the receipt when it need not wait', async () => {
    const found = await prompt('no-wait', ['--no-wait', '--json', 'hi'], {
      env: { DATABASE_URL: 'file:nowhere/at/all.db' },
    });
    const receipt = JSON.parse(found.stdout);
    expect(receipt).toEqual({
      sessionId: agent.id('no-wait'),
      promptId: expect.any(String),
      runId: expect.any(String),
    });
    await agent.turnOf(receipt);
  });

  it('fails with the words of a model that refuses, without its control characters', async () => {
    const found = await prompt('no-key', ['no key']);
    expect(found.stderr).toMatch(/^error: the turn failed: the model answered 401: who are ␛\[31myou\?\n$/);
    expect(found.code).toBe(1);
    const json = await prompt('no-key', ['--json', 'no key']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      turn: 2,
      error: { message: expect.stringMatching(/401/) },
    });
    expect(json.code).toBe(1);
  });

  it('fails for an answer that was cut off, and shows it', async () => {
    const found = await prompt('cut', ['cut']);
    expect(found.stdout).toMatch(/half\n$/);
    expect(found.stderr).toMatch(/^error: the answer was cut off at the model's output limit\n$/);
    expect(found.code).toBe(1);
  });

  it('says what holds an answer up, and leaves after --timeout while the turn goes on', async () => {
    const found = await prompt('held-up', ['--timeout', '9', 'try again']);
    expect(found.stderr).toMatch(/the model failed, trying again \(attempt \d+\): the model answered 503/);
    expect(found.stderr).toMatch(/^error: left after 9 s: the turn goes on, and time-context show /m);
    expect(found.code).toBe(1);
    const cancelled = await cli(['cancel', agent.id('held-up'), '--json'], here());
    expect(JSON.parse(cancelled.stdout)).toEqual({ sessionId: agent.id('held-up'), cancelled: true });
    await expect(agent.run('held-up').result()).resolves.toEqual({ turn: 1, reason: 'aborted' });
  });

  it('cancels the turn on Ctrl-C', async () => {
    const running = startCli(['prompt', '--session', agent.id('ctrl-c'), 'hang'], here());
    await running.until(/Time sampled/);
    running.child.kill('SIGINT');
    const found = await running.finished;
    expect(found.stderr).toBe('cancelling the turn; Ctrl-C again leaves\nerror: the turn was cancelled\n');
    expect(found.code).toBe(130);
  });

  it('fails within seconds where no server answers', async () => {
    const found = await prompt('away', ['hi'], { env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    expect(found.stderr).toBe(
      'error: no Temporal server answers at 127.0.0.1:1; start one (npm start), or set TEMPORAL_ADDRESS\n',
    );
    expect(found.code).toBe(1);
    expect(found.ms).toBeLessThan(9_000);
  });

  it('names a namespace that is none', async () => {
    const found = await prompt('namespace', ['--timeout', '40', 'hi'], {
      env: { TEMPORAL_NAMESPACE: 'nowhere' },
    });
    expect(found.stderr).toMatch(/error: the Temporal server refused: .*nowhere/);
    expect(found.code).toBe(1);
  });
});

describe('prompt without a worker', () => {
  const nobody = { env: { TIME_CONTEXT_TASK_QUEUE: 'nobody-polls-this' } };

  it('says that none has taken it, and leaves on Ctrl-C', async () => {
    const args = ['prompt', '--session', agent.id('nobody'), '--prompt-id', 'mine', 'hi'];
    const running = startCli(args, here(nobody));
    await running.until(/no worker has taken the prompt yet \(task queue nobody-polls-this\)/);
    running.child.kill('SIGINT');
    const found = await running.finished;
    expect(found.stderr).toMatch(
      /error: left with Ctrl-C: no worker accepted the prompt, .* --prompt-id mine sends/,
    );
    expect(found.code).toBe(130);
  });

  it('keeps waiting for one', async () => {
    const cwd = await temporaryFolder();
    const idle = await Harness.start({ idle: true });
    let worker: RunningWorker | undefined;
    try {
      const env = {
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        DATABASE_URL: idle.databaseUrl,
        TIME_CONTEXT_TASK_QUEUE: idle.taskQueue,
      };
      const running = startCli(['prompt', '--session', idle.id('late'), 'hi'], { cwd, env });
      await running.until(/no worker has taken the prompt yet/);
      worker = await idle.startWorker();
      const found = await running.finished;
      expect(found.stdout).toMatch(/\nok\n$/);
      expect(found.code).toBe(0);
    } finally {
      await worker?.stop();
      await idle.close();
    }
  });
});

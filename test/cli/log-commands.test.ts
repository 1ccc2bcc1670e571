/** The commands that read and write the log alone: no server is asked. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogEvent, UserMessage } from '../../src/contract.ts';
import { openDatabase } from '../../src/session/database.ts';
import { importSession } from '../../src/session/exchange.ts';
import { SessionLog } from '../../src/session/session-log.ts';
import { HEADER } from '../reading/log-builder.ts';
import { readings, sampleLog } from '../verify/sample-log.ts';
import { BIN, cli, type RunOptions, startCli, temporaryFolder } from './command-line.ts';

let folder: string;
const file = () => join(folder, 'demo.jsonl');
const run = (args: string[], options: RunOptions = {}) => cli(args, { cwd: folder, ...options });

function lines(events: LogEvent[], id = 'demo'): string {
  return [{ ...HEADER, id }, ...events].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** A log whose first reading says another zone than its data. */
function tampered(): LogEvent[] {
  const events = structuredClone(sampleLog());
  const message = readings(events)[0]!.data as UserMessage;
  message.content[0]!.text = message.content[0]!.text.replace(/preparing turn 1/, 'preparing turn 7');
  return events;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'time-context-log-'));
  await writeFile(file(), lines(sampleLog()));
  await writeFile(join(folder, 'tampered.jsonl'), lines(tampered(), 'tampered'));
  await mkdir(join(folder, '.time-context'));
  const log = new SessionLog(await openDatabase(`file:${join(folder, '.time-context/sessions.db')}`));
  await importSession(log, [Buffer.from(lines(sampleLog()))] as never);
  await log.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('show', () => {
  it('shows turns, steps, prompts, readings, tools and ends', async () => {
    const { stdout, stderr, code } = await run(['show', 'demo']);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toMatch(/^session demo, created 2026-07-13T00:00:00\.000Z, 4 turns, \d+ events\n/);
    expect(stdout).toMatch(/\nturn 1 {2}2026-.*\n {2}step 1\n {4}prompt {5}prompt p1\n/);
    expect(stdout).toMatch(/id p1, from Asia\/Calcutta\n/);
    expect(stdout).toMatch(/ {4}reading {4}Time sampled while preparing turn 1, step 1: /);
    expect(stdout).toMatch(/ {4}call {7}/);
    expect(stdout).toMatch(/ {4}result {5}/);
    expect(stdout).toMatch(/ {2}cancelled\n/);
    expect(stdout).toMatch(/prompt p5 was dropped by policy/);
    expect(stdout).toMatch(/ {4}summary {4}/);
    expect(stdout).toMatch(/what stands above came from a fork or an import/);
  });

  it('shows control characters as pictures, and unknown events by their number', async () => {
    const text = '\u001b]0;owned\u0007 red \u009b31m';
    const events = [
      { seq: 0, type: 'x/\u001b[2J', time: 1, data: null },
      {
        seq: 1,
        type: 'user/message',
        time: 2,
        surfaceOp: 'append',
        data: { id: 'm', role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } },
      },
      { seq: 2, type: 'request/header', time: 3, data: {} },
    ] as LogEvent[];
    await writeFile(join(folder, 'odd.jsonl'), lines(events, 'odd'));
    expect((await run(['import', 'odd.jsonl'])).code).toBe(0);
    const { stdout } = await run(['show', 'odd']);
    expect(stdout).toMatch(/1 event x\/␛\[2J\n/);
    expect(stdout).toMatch(/␛\]0;owned␇ red �31m/);
    expect(stdout).toMatch(/1 event request\/header\n/);
    expect(stdout).not.toMatch(/[\u001b\u0007\u009b]/);
  });

  it('prints items as JSON', async () => {
    const { stdout } = await run(['show', 'demo', '--json']);
    const { header, items } = JSON.parse(stdout);
    expect(header).toMatchObject({ type: 'session', id: 'demo' });
    expect(items.filter(({ kind }: { kind: string }) => kind === 'reading')).toHaveLength(
      readings(sampleLog()).length,
    );
  });

  it.each([['show'], ['export'], ['verify'], ['request', '--turn', '1', '--step', '1']])(
    '%s of an unknown session fails',
    async (command, ...options) => {
      const found = await run([command, 'nobody', ...options]);
      expect(found.stderr).toMatch(/^error: there is no session (and no file )?"nobody"\n$/);
      expect(found).toMatchObject({ code: 1, stdout: '' });
      const json = await run([command, 'nobody', ...options, '--json']);
      expect(JSON.parse(json.stdout).error.code).toBe('unknown-session');
    },
  );

  it('ends quietly where its reader goes away', async () => {
    const running = startCli(['show', 'demo'], { cwd: folder });
    running.child.stdout!.destroy();
    const { stderr, code } = await running.finished;
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  it('has no colours where nobody sees them, or wants them', async () => {
    const { stdout } = await run(['show', 'demo'], { env: { NO_COLOR: '1' } });
    expect(stdout).not.toMatch(/\u001b/);
  });
});

describe('sessions', () => {
  it('lists what the log holds', async () => {
    expect((await run(['sessions'])).stdout).toMatch(
      /^demo {2,}2026-07-13T00:00:00\.000Z {2}4 turns, \d+ events$/m,
    );
    const { sessions } = JSON.parse((await run(['sessions', '--json'])).stdout);
    expect(sessions[0]).toMatchObject({ sessionId: 'demo', turns: 4, open: false });
  });
});

describe('export and import', () => {
  it('bring a session there and back', async () => {
    const exported = await run(['export', 'demo']);
    expect(exported.code).toBe(0);
    await writeFile(join(folder, 'again.jsonl'), exported.stdout);
    const imported = await run(['import', 'again.jsonl', '--as', 'copy', '--json']);
    expect(JSON.parse(imported.stdout)).toMatchObject({ sessionId: 'copy', turns: 4, open: false });
    const [header, ...events] = (await run(['export', 'copy'])).stdout.trimEnd().split('\n');
    const [, ...before] = exported.stdout.trimEnd().split('\n');
    expect(JSON.parse(header!)).toMatchObject({ id: 'copy', seedLength: before.length });
    expect(events.slice(0, before.length)).toEqual(before);
    const whole = JSON.parse((await run(['export', 'copy', '--json'])).stdout);
    expect(whole.events).toEqual(events.map((line) => JSON.parse(line)));
  });

  it('refuse an id that is taken, and a bad one', async () => {
    const taken = await run(['import', 'demo.jsonl']);
    expect(taken.stderr).toBe('error: there is a session "demo" already; give another id with --as\n');
    expect(taken.code).toBe(1);
    expect((await run(['import', 'demo.jsonl', '--as', 'a/b'])).code).toBe(2);
  });
});

describe('a broken file', () => {
  const whole = lines(sampleLog());
  const second = whole.split('\n')[1]!;
  it.each<[string, string | Buffer, RegExp]>([
    ['empty', '', /broken\.jsonl: the file is empty/],
    [
      'of another kind',
      Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0x00, 0x01]),
      /line 1: expected UTF-8 text/,
    ],
    ['of text', 'hello\n', /line 1: expected a JSON object, found /],
    [
      'without its header',
      `${second}\n`,
      /line 1: expected the header, \{"type":"session",…\}, found an object of type "turn\/start"/,
    ],
    [
      'cut off',
      whole.slice(0, -10),
      new RegExp(`line ${whole.trimEnd().split('\n').length}: expected a JSON object, found `),
    ],
  ])('%s is refused by import and verify', async (_, content, message) => {
    await writeFile(join(folder, 'broken.jsonl'), content);
    for (const command of ['import', 'verify']) {
      const found = await run([command, 'broken.jsonl', ...(command === 'import' ? ['--as', 'broken'] : [])]);
      expect(found.stderr).toMatch(message);
      expect(found.stderr).toMatch(/^error: broken\.jsonl: .*\n$/);
      expect(found.code).toBe(1);
    }
    expect((await run(['show', 'broken'])).stderr).toMatch(/there is no session "broken"/);
  });

  it('that is a folder is refused', async () => {
    await mkdir(join(folder, 'folder.jsonl'), { recursive: true });
    for (const command of ['import', 'verify']) {
      const found = await run([command, 'folder.jsonl']);
      expect(found.stderr).toBe('error: folder.jsonl is a folder; name a file that export wrote\n');
      expect(found.code).toBe(1);
    }
  });

  it('leaves nothing behind', async () => {
    const missing = whole.split('\n').toSpliced(5, 1).join('\n').replace('"demo"', '"gap"');
    await writeFile(join(folder, 'gap.jsonl'), missing);
    const found = await run(['import', 'gap.jsonl']);
    expect(found.stderr).toBe('error: gap.jsonl: line 6: expected seq 4, found seq 5\n');
    expect((await run(['show', 'gap'])).code).toBe(1);
  });
});

describe('verify', () => {
  it('accepts a session, a file, and all sessions', async () => {
    for (const given of ['demo', 'demo.jsonl', './demo.jsonl', file()]) {
      const found = await run(['verify', given]);
      expect(found.stdout).toMatch(/: ok \(4 turns, \d+ readings, \d+ events\)\n/);
      expect(found.code).toBe(0);
    }
    const all = JSON.parse((await run(['verify', '--all', '--json'])).stdout);
    expect(all.sessions.map(({ session }: { session: string }) => session)).toContain('demo');
  });

  it('names event, expected and found, and exits with 1', async () => {
    const found = await run(['verify', 'tampered.jsonl']);
    const { seq } = readings(sampleLog())[0]!;
    expect(found.stdout).toMatch(/^tampered\.jsonl: \d problems? \(/);
    expect(found.stdout).toMatch(
      new RegExp(`^  event ${seq}, reading-\\w+\n    expected  .*\n    found     .*$`, 'm'),
    );
    expect(found.code).toBe(1);
    const json = await run(['verify', 'tampered.jsonl', '--json']);
    const { ok, problems } = JSON.parse(json.stdout);
    expect(ok).toBe(false);
    expect(problems).toContainEqual(
      expect.objectContaining({ seq, expected: expect.any(String), found: expect.any(String) }),
    );
    expect(json.code).toBe(1);
  });
});

describe('preview', () => {
  const ask = (...args: string[]) =>
    run(['preview', 'demo.jsonl', '--turn', '5', '--step', '1', '--now', '2026-12-15T01:01:01Z', ...args]);

  it('says what the next step would be told', async () => {
    const { stdout, code } = await ask('--time-zone', 'Asia/Shanghai');
    expect(stdout).toMatch(
      /^Time sampled while preparing turn 5, step 1: 2026-12-15T09:01:01\+08:00\[Asia\/Shanghai\]\nTuesday\. Time zone of this request: Asia\/Shanghai; .*\nElapsed since the preceding model-visible message: \d+d .*\.\n$/,
    );
    expect(code).toBe(0);
  });

  it('takes its options, and a batch', async () => {
    await writeFile(join(folder, 'batch.json'), '[]');
    const none = JSON.parse(
      (await ask('--batch', 'batch.json', '--fallback-zone', 'America/New_York', '--json')).stdout,
    );
    expect(none).toMatchObject({
      due: true,
      reading: { zone: { status: 'unavailable', display: 'America/New_York' } },
    });
    const user = JSON.parse((await ask('--user-time-zone', 'Europe/Oslo', '--json')).stdout);
    expect(user).toMatchObject({ reading: { zone: { status: 'configured', name: 'Europe/Oslo' } } });
    const seldom = await ask('--refresh-interval-ms', `${2 ** 50}`, '--json');
    expect(JSON.parse(seldom.stdout)).toEqual({ due: false });
  });

  it.each<[string, string[], RegExp]>([
    ['a bad zone', ['--time-zone', 'CST'], /time zone "CST"/],
    [
      'a zone and a batch',
      ['--time-zone', 'UTC', '--batch', 'batch.json'],
      /--time-zone and --batch both say/,
    ],
    ['no batch', ['--batch', 'none.json'], /--batch none\.json cannot be read/],
    ['a batch that is none', ['--batch', 'demo.jsonl'], /--batch demo\.jsonl is not JSON/],
    ['a bad fallback', ['--fallback-zone', 'Japan'], /--fallback-zone is "Japan"; allowed: /],
    ['a bad user zone', ['--user-time-zone', ''], /--user-time-zone is ""; allowed: /],
    ['a bad interval', ['--refresh-interval-ms', '1.5'], /--refresh-interval-ms is "1\.5"; allowed: /],
  ])('refuses %s', async (_, args, message) => {
    const found = await ask(...args);
    expect(found.stderr).toMatch(message);
    expect(found).toMatchObject({ code: 2, stdout: '' });
  });

  it('refuses a clock that cannot be right', async () => {
    const found = await run([
      'preview',
      'demo.jsonl',
      '--turn',
      '5',
      '--step',
      '1',
      '--now',
      '1970-01-01T00:00:00Z',
    ]);
    expect(found.stderr).toMatch(/implausible clock/);
    expect(found.code).toBe(2);
  });
});

describe('request', () => {
  const request = (given: string, turn: number, step: number, ...args: string[]) =>
    run(['request', given, '--turn', `${turn}`, '--step', `${step}`, ...args]);

  it('prints what the model was sent, of a session and of a file', async () => {
    const { stdout, stderr, code } = await request('demo', 1, 1);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toMatch(/^\S+ \S+, \d+ tools?, \d+ messages?\n/);
    expect(stdout).toMatch(/\nuser\n {4}Time sampled while preparing turn 1, step 1: /);
    expect((await request('demo.jsonl', 1, 1)).stdout).toBe(stdout);
    const json = await request('demo', 1, 1, '--json');
    expect(Object.keys(JSON.parse(json.stdout))).toEqual(['header', 'messages']);
    expect((await request('./demo.jsonl', 1, 1, '--json')).stdout).toBe(json.stdout);
  });

  it('says what the log does not have', async () => {
    const turn = await request('demo', 9, 1, '--json');
    expect(JSON.parse(turn.stdout).error).toEqual({
      code: 'unknown-turn',
      message: 'the session has no turn 9; its last one is turn 4',
    });
    expect(turn.code).toBe(1);
    const step = await request('demo.jsonl', 1, 9);
    expect(step.stderr).toMatch(/^error: turn 1 has no step 9; its last one is step \d\n$/);
    expect(step.code).toBe(1);
    const start = { seq: 0, type: 'turn/start', time: 1, data: null };
    await writeFile(join(folder, 'no-data.jsonl'), lines([start] as LogEvent[]));
    expect((await request('no-data.jsonl', 1, 1)).stderr).toBe(
      'error: no-data.jsonl: event 0: expected turn/start with a turn from 1, found null\n',
    );
    const wrong = await run(['request', 'demo', '--turn', '0', '--step', '1']);
    expect(wrong.stderr).toMatch(/--turn is "0"; allowed: whole numbers from 1 on/);
    expect(wrong.code).toBe(2);
  });
});

describe('fork', () => {
  it('begins another session with the same past', async () => {
    const { stdout, code } = await run(['fork', 'demo', '--at-turn', '1', '--as', 'other']);
    expect(stdout).toMatch(/^forked other from demo: 1 turn, \d+ events\n$/);
    expect(code).toBe(0);
    expect((await run(['verify', 'other', '--closed'])).code).toBe(0);
    const last = JSON.parse((await run(['fork', 'demo', '--as', 'last', '--json'])).stdout);
    expect(last).toMatchObject({ sessionId: 'last', parentSession: 'demo', turn: 4 });
  });

  it.each<[string, string[], number, RegExp]>([
    [
      'an id that is taken',
      ['demo', '--as', 'demo'],
      1,
      /there is a session "demo" already; give another id/,
    ],
    ['a bad id', ['demo', '--as', 'a/b'], 2, /session id "a\/b" is not allowed/],
    ['no id', ['demo'], 2, /required option '--as <id>' not specified/],
    [
      'an unknown turn',
      ['demo', '--as', 'x', '--at-turn', '9'],
      1,
      /has no turn 9 that ended; its last one is/,
    ],
    ['a turn that is none', ['demo', '--as', 'x', '--at-turn', 'all'], 2, /--at-turn is "all"; allowed: /],
    ['an unknown session', ['nobody', '--as', 'x'], 1, /there is no session "nobody"/],
  ])('refuses %s', async (_, args, code, message) => {
    const found = await run(['fork', ...args]);
    expect(found.stderr).toMatch(message);
    expect(found).toMatchObject({ code, stdout: '' });
  });
});

describe('a database that cannot be used', () => {
  it('is named, with what to do', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'text.db'), 'this is no database, '.repeat(100));
    for (const args of [['show', 'demo'], ['sessions'], ['verify', '--all'], ['prompt', 'hi']]) {
      const found = await cli(args, {
        cwd,
        env: { DATABASE_URL: 'file:text.db', TEMPORAL_ADDRESS: '127.0.0.1:1' },
      });
      expect(found.stderr).toMatch(
        /^error: the database .*text\.db cannot be used: it is not a SQLite database; choose another path/,
      );
      expect(found.code).toBe(1);
    }
    const folder = await cli(['sessions'], { cwd, env: { DATABASE_URL: 'file:.' } });
    expect(folder.stderr).toMatch(
      /^error: the database .* cannot be used: it cannot be opened; check that it is a file/,
    );
    expect(await readFile(join(cwd, 'text.db'), 'utf8')).toMatch(/^this is no database/);
  });

  // A superuser may write to any file: the command runs as nobody then, where nobody can read this checkout.
  const uid = process.getuid?.() === 0 ? 65534 : undefined;
  const can = uid === undefined || spawnSync(process.execPath, [BIN, '--version'], { uid }).status === 0;
  it.runIf(can)('because it is read-only is named too', async () => {
    const cwd = await temporaryFolder();
    await chmod(cwd, 0o755);
    const database = join(cwd, 'sessions.db');
    await (await openDatabase(`file:${database}`)).destroy();
    await chmod(database, 0o444);
    for (const args of [
      ['show', 'demo'],
      ['import', file()],
      ['prompt', 'hi'],
    ]) {
      await chmod(folder, 0o755);
      const found = await cli(args, {
        cwd,
        env: { DATABASE_URL: `file:${database}`, TEMPORAL_ADDRESS: '127.0.0.1:1' },
        ...(uid === undefined ? {} : { uid }),
      });
      expect(found.stderr).toMatch(
        /^error: the database .* cannot be used: it is read-only for this user; allow writing to the file and its folder\n$/,
      );
      expect(found.code).toBe(1);
    }
  });
});

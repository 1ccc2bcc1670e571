/** `npm start`: server, worker and a prompt in one process, with a piped standard input. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { accepts } from '../../src/dev/free-port.ts';
import { startScriptedModel } from '../agent/scripted-model.ts';
import { cli, startDev, temporaryFolder } from './command-line.ts';

const READY = /\(session \S+, \d+ turns? so far\)/;

async function instance(cwd: string): Promise<{ address: string; pid: number } | undefined> {
  const text = await readFile(join(cwd, '.time-context/dev.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('npm start', () => {
  it('answers each line, ends with the input, and goes on with the same session', async () => {
    const cwd = await temporaryFolder();
    const first = await startDev([], { cwd, input: 'What day is it tomorrow?\n\nconvert 10 km to miles\n' })
      .finished;
    expect(first.stderr).toBe('');
    expect(first.stdout).toMatch(/^Temporal {3}dev server at 127\.0\.0\.1:\d+, data in \.time-context\/$/m);
    expect(first.stdout).toMatch(
      /^Worker {5}ready on task queue time-context, its log in \.time-context\/worker\.log$/m,
    );
    expect(first.stdout).toMatch(/^Model {6}offline: .*\n {11}Set MODEL_BASE_URL, MODEL and MODEL_API_KEY/m);
    expect(first.stdout).toMatch(/^\(session default, 0 turns so far\)$/m);
    expect(first.stdout).toMatch(
      /^> What day is it tomorrow\?\n {2}Time sampled while preparing turn 1, step 1: .*\[Europe\/Berlin\]\n/m,
    );
    expect(first.stdout).toMatch(/^\[offline model\] Tomorrow is /m);
    expect(first.stdout).toMatch(/^ {2}→ convert_units .*\n {2}← .*\n/m);
    expect(first.stdout).toMatch(/^\[offline model\] 10 kilometre = 6\.21\d+ mile\.\nstopping …\n$/m);
    expect(first.code).toBe(0);
    expect(await instance(cwd)).toBeUndefined();

    const second = await startDev([], { cwd, input: 'What time is it?' }).finished;
    expect(second.stdout).toMatch(/^\(session default, 2 turns so far\)$/m);
    expect(second.stdout).toMatch(/preparing turn 3, step 1/);
    expect(second).toMatchObject({ code: 0, stderr: '' });

    const verified = await cli(['verify', '--all', '--closed'], { cwd });
    expect(verified).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^default: ok \(3 turns, 4 readings/),
    });
  });

  it('is found by the command line and joined by a second start, and Ctrl-C ends it', async () => {
    const cwd = await temporaryFolder();
    const running = startDev(['--session', 'one'], { cwd });
    await running.until(READY);
    const { address, pid } = (await instance(cwd))!;
    expect(pid).toBe(running.child.pid);

    const prompted = await cli(['prompt', '--session', 'two', 'What day is it?'], { cwd });
    expect(prompted.stdout).toMatch(/\[offline model\] /);
    expect(prompted.code).toBe(0);

    const joined = await startDev(['--session', 'two'], { cwd, input: 'And tomorrow?\n' }).finished;
    expect(joined.stdout).toMatch(
      new RegExp(`^npm start runs in this folder already \\(process ${pid}, ${address}\\); this joins`),
    );
    expect(joined.stdout).toMatch(
      /\(session two, 1 turn so far\)\n> And tomorrow\?\n[\s\S]*\[offline model\] Tomorrow is /,
    );
    expect(joined.code).toBe(0);

    running.type('What time is it?');
    await running.until(/\[offline model\] It is /);
    running.child.kill('SIGINT');
    const { code, signal, stdout, stderr, ms } = await running.finished;
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
    expect(stdout).toMatch(/stopping …\n$/);
    expect(ms).toBeLessThan(60_000);
    expect(await accepts(Number(address.split(':')[1]))).toBe(false);
    expect(await instance(cwd)).toBeUndefined();
  });

  it('carries an unfinished turn on after it was killed', async () => {
    const cwd = await temporaryFolder();
    let calls = 0;
    const model = await startScriptedModel(() => (calls++ === 0 ? 'hang' : { text: 'answered after all' }));
    try {
      const env = { MODEL_BASE_URL: model.baseURL, MODEL: 'scripted' };
      const killed = startDev([], { cwd, env });
      await killed.until(READY);
      killed.type('hello');
      await vi.waitUntil(() => model.requests.length > 0, { timeout: 20_000 });
      const { pid } = (await instance(cwd))!;
      killed.child.kill('SIGKILL');
      await killed.finished;
      expect(lives(pid)).toBe(false);
      expect(await instance(cwd)).toBeDefined();

      const next = await startDev([], { cwd, env, input: '' }).finished;
      expect(next.stdout).toMatch(/the last turn is not finished; it goes on\n[\s\S]*answered after all\n/);
      expect(next.code).toBe(0);
    } finally {
      await model.close();
    }
  });

  it('tells what a model answers in place of an answer, and goes on', async () => {
    const cwd = await temporaryFolder();
    const model = await startScriptedModel(({ messages }) =>
      messages.some(({ content }) => content === 'again') ? { text: 'better' } : { status: 401 },
    );
    try {
      const env = { MODEL_BASE_URL: model.baseURL, MODEL: 'scripted' };
      const found = await startDev([], { cwd, env, input: 'hello\nagain\n' }).finished;
      expect(found.stdout).toMatch(/^Model {6}scripted at http:/m);
      expect(found.stderr).toBe('the turn failed: the model answered 401: scripted 401\n');
      expect(found.stdout).toMatch(/\nbetter\n/);
      expect(found.code).toBe(0);
    } finally {
      await model.close();
    }
  });

  it('cancels the turn on Ctrl-C', async () => {
    const cwd = await temporaryFolder();
    const model = await startScriptedModel(() => 'hang');
    try {
      const env = { MODEL_BASE_URL: model.baseURL, MODEL: 'scripted' };
      const running = startDev([], { cwd, env });
      await running.until(READY);
      running.type('hello');
      await running.until(/Time sampled/);
      running.child.kill('SIGINT');
      const { code, stderr } = await running.finished;
      expect(stderr).toBe('  cancelling the turn; Ctrl-C again leaves\nthe turn was cancelled\n');
      expect(code).toBe(0);
      const shown = await cli(['show', 'default'], { cwd });
      expect(shown.stdout).toMatch(/ {2}cancelled\n$/);
    } finally {
      await model.close();
    }
  });

  it.each<[string, string[], NodeJS.ProcessEnv, number, RegExp]>([
    ['a bad session id', ['--session', 'a b'], {}, 2, /^error: --session is "a b"; allowed: /],
    ['an unknown option', ['--sesion', 'x'], {}, 2, /^error: unknown option '--sesion'/],
    [
      'a bad setting',
      [],
      { TIME_CONTEXT_TIME_ZONE: 'CST' },
      2,
      /^error: TIME_CONTEXT_TIME_ZONE is "CST"; allowed: /,
    ],
    [
      'half a model',
      [],
      { MODEL_BASE_URL: 'http://127.0.0.1:1/v1' },
      2,
      /^error: MODEL_BASE_URL is set but MODEL is not/,
    ],
    [
      'a database that is none',
      [],
      { DATABASE_URL: 'file:text.db' },
      1,
      /^error: the database .*text\.db cannot be used: it is not a SQLite database/,
    ],
    [
      'a server that is away',
      [],
      { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      1,
      /^error: no Temporal server answers at 127\.0\.0\.1:1/,
    ],
    [
      'a CLI that is none',
      [],
      { TEMPORAL_CLI_PATH: 'text.db' },
      1,
      /^error: TEMPORAL_CLI_PATH is text\.db, which is not executable/,
    ],
  ])('refuses %s', async (_, args, env, code, message) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'text.db'), 'this is no database, '.repeat(100));
    const found = await startDev(args, { cwd, env, input: '' }).finished;
    expect(found.stderr).toMatch(message);
    expect(found.stderr).not.toMatch(/^\s+at /m);
    expect(found.code).toBe(code);
    expect(await instance(cwd)).toBeUndefined();
  });
});

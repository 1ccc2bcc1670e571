import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli, temporaryFolder } from './command-line.ts';

describe('the command line refuses', () => {
  it.each<[string, string[], number, RegExp, NodeJS.ProcessEnv?]>([
    ['no command', [], 2, /Usage: time-context/],
    ['an unknown command', ['shwo', 'demo'], 2, /^error: unknown command 'shwo'/],
    ['an unknown option', ['show', 'demo', '--bogus'], 2, /unknown option '--bogus'/],
    ['a prompt without a text', ['prompt'], 2, /missing required argument 'text'/],
    ['a prompt without quotes', ['prompt', 'what', 'now'], 2, /put a text of several words in quotes/],
    ['an empty prompt', ['prompt', ''], 1, /the prompt is empty/],
    [
      'a bad zone',
      ['prompt', '--time-zone', 'CST', 'hi'],
      2,
      /time zone "CST" is not allowed: UTC, or an IANA name/,
    ],
    [
      'an offset as a zone',
      ['prompt', '--time-zone', '+08:00', 'hi'],
      2,
      /time zone "\+08:00" is not allowed/,
    ],
    ['a bad session id', ['prompt', '--session', 'a b', 'hi'], 2, /session id "a b" is not allowed/],
    ['a bad prompt id', ['prompt', '--prompt-id', 'ü', 'hi'], 2, /prompt id "ü" is not allowed/],
    ['a bad time-out', ['prompt', '--timeout', 'soon', 'hi'], 2, /--timeout is "soon"/],
    ['a session id as a path', ['show', '../x'], 2, /session id "\.\.\/x" is not allowed/],
    ['verify of nothing', ['verify'], 2, /name one session or one file, or give --all/],
    ['verify of too much', ['verify', 'demo', '--all'], 2, /name one session or one file, or give --all/],
    [
      'turn 0',
      ['preview', 'x', '--turn', '0', '--step', '1', '--now', '2026-07-15T01:01:01Z'],
      2,
      /--turn is "0"; allowed: whole numbers from 1/,
    ],
    [
      'a local time',
      ['preview', 'x', '--turn', '1', '--step', '1', '--now', '2026-07-15T01:01:01'],
      2,
      /--now is .*allowed: an RFC 3339 instant/,
    ],
    [
      'a day that is none',
      ['preview', 'x', '--turn', '1', '--step', '1', '--now', '2026-02-30T01:01:01Z'],
      2,
      /--now is /,
    ],
    [
      'preview without a clock',
      ['preview', 'x', '--turn', '1', '--step', '1'],
      2,
      /required option '--now <instant>' not specified/,
    ],
    [
      'a setting that is none',
      ['sessions'],
      2,
      /TIME_CONTEXT_TIMEZONE is no setting; allowed: /,
      { TIME_CONTEXT_TIMEZONE: 'UTC' },
    ],
    [
      'another kind of database',
      ['sessions'],
      2,
      /DATABASE_URL is "mysql:\/\/u:\*\*\*@h\/d"; allowed: file:<path>/,
      { DATABASE_URL: 'mysql://u:secret@h/d' },
    ],
    ['half a model', ['sessions'], 2, /MODEL is set but MODEL_BASE_URL is not/, { MODEL: 'm' }],
    [
      "a broken configuration of Temporal's",
      ['cancel', 'demo'],
      2,
      /Temporal's configuration file cannot be used/,
      { TEMPORAL_CONFIG_FILE: 'broken.toml' },
    ],
    ['a log that is not there', ['show', 'demo'], 1, /there is no database at .*start the worker first/],
    [
      'a file that is not there',
      ['import', 'none.jsonl'],
      1,
      /none\.jsonl cannot be read: there is no such file/,
    ],
  ])('%s', async (_, args, code, message, env = {}) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'broken.toml'), '[profile.default\naddress=');
    const plain = await cli(args, { cwd, env });
    expect(plain.stderr).toMatch(message);
    expect(plain.stderr).not.toMatch(/^\s+at |secret/m);
    expect(plain.stdout).toBe('');
    expect(plain.code).toBe(code);
  });

  it('with --json as one JSON object on the standard output', async () => {
    const cwd = await temporaryFolder();
    for (const [args, code, exitCode] of [
      [['show', 'demo', '--json', '--bogus'], 'usage', 2],
      [['prompt', '--json', '--time-zone', 'CST', 'hi'], 'invalid-time-zone', 2],
      [['verify', 'none.jsonl', '--json'], 'file-unreadable', 1],
      [['export', 'demo', '--json'], 'database-missing', 1],
      [['chat', '--json'], 'usage', 2],
    ] as const) {
      const found = await cli(args, { cwd });
      expect(JSON.parse(found.stdout)).toEqual({ error: { code, message: expect.any(String) } });
      expect(found).toMatchObject({ code: exitCode, stderr: '' });
    }
  });
});

describe('the command line', () => {
  it('has help and a version', async () => {
    const help = await cli(['help', 'preview']);
    expect(help.stdout).toMatch(/--fallback-zone <zone>/);
    expect(help.code).toBe(0);
    const version = await cli(['--version']);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(version.code).toBe(0);
  });
});

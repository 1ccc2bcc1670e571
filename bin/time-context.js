#!/usr/bin/env node
// Starts the command line with a Node that can run it. This file runs on Node 18 and newer: it must explain, not break.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const source = at('src/cli/main.ts');
const isCheckout = existsSync(source);
const main = isCheckout ? source : at('dist/src/cli/main.js');

/** The Node of the lock file, which a checkout has once `npm ci` ran: its time zone data are the ones that were tested. */
function lockedNode() {
  const node = at('node_modules/.bin/node');
  if (!isCheckout || !existsSync(node)) return undefined;
  const { version } = JSON.parse(readFileSync(at('node_modules/node/package.json'), 'utf8'));
  return version === process.versions.node ? undefined : node;
}

function runsHere() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  // Sources need a Node that reads TypeScript by itself.
  const needed = isCheckout ? [22, 18] : [22, 13];
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
}

function explain(line) {
  process.stderr.write(`error: ${line}\n`);
  process.exitCode = 1;
}

/** Runs in a child and ends as it ends, by the same code or signal. */
function runIn(node) {
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The child decides what a signal means. A terminal sends Ctrl-C to both of us: it counts two at once as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => explain(`${node} cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

const node = lockedNode();
if (node) runIn(node);
else if (!runsHere()) {
  const remedy = isCheckout ? 'run npm ci first, which brings the right one' : 'install a newer one';
  explain(
    `Node.js ${isCheckout ? '22.18' : '22.13'} or newer is needed, this is ${process.versions.node}; ${remedy}`,
  );
} else {
  // Older ones call their SQLite experimental on each start, which is no news to a user.
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('SQLite is an experimental feature'))
      emitWarning.call(process, warning, ...rest);
  };
  await import(new URL(isCheckout ? '../src/cli/main.ts' : '../dist/src/cli/main.js', import.meta.url));
}

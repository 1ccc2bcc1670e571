/** `npm run bench`: figures as a table; `-- --json`: as one JSON object. Ratios of one run, since machines differ. */
import { Command } from 'commander';
import { openBenchSite } from './bench-site.ts';
import { preStepMs } from './pre-step.ts';
import { historyPerStep, readingRatio, turnRatio } from './turns.ts';

const { json, quick } = new Command('bench')
  .option('--json', 'one JSON object instead of a table')
  .option('--quick', 'few samples, to see that it runs')
  .parse()
  .opts<{ json?: boolean; quick?: boolean }>();

const log = (line: string) => process.stderr.write(`${line}\n`);
const pairs = quick ? 2 : 20;

const site = await openBenchSite();
const lengths = quick ? [10, 20] : [10, 50, 200];
log(`history of turns of ${lengths.join(', ')} steps`);
const history = await historyPerStep(site, lengths);
log(`${pairs} pairs of turns, with readings and without`);
const reading = await readingRatio(site, pairs, 20);
log(`${pairs} pairs of turns, ours and a bare workflow’s`);
const turn = await turnRatio(site, pairs, 20);
await site.close();
const preStep = await preStepMs(quick ? [1_000, 10_000] : [1_000, 1_000_000], quick ? 20 : 300, log);

const figures = {
  ...history,
  readingRatio: reading.ratio,
  turnRatio: turn.ratio,
  stepMs: { ours: turn.stepMs, bare: turn.otherStepMs },
  preStepMs: preStep,
};
if (json) process.stdout.write(`${JSON.stringify(figures)}\n`);
else {
  const sizes = Object.keys(preStep);
  const growth = preStep[sizes[1]!]!.median / preStep[sizes[0]!]!.median;
  const rows = [
    ['history events a step', JSON.stringify(history.historyEventsPerStep), 'constant'],
    ['history bytes a step', JSON.stringify(history.historyBytesPerStep), 'constant, under 2,500'],
    ['turn with readings / without', String(reading.ratio), 'at most 1.1'],
    [
      'turn / bare workflow',
      `${turn.ratio} (${turn.stepMs} ms / ${turn.otherStepMs} ms a step)`,
      'at most 1.4',
    ],
    ...sizes.map((size) => [
      `pre-step on ${Number(size).toLocaleString('en-US')} events, ms`,
      `median ${preStep[size]!.median}, p99 ${preStep[size]!.p99}`,
      '',
    ]),
    ['pre-step, long log / short log', growth.toFixed(2), 'at most 1.2'],
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const [name, value, aim] of rows)
    process.stdout.write(`${name!.padEnd(widths[0]!)}  ${value!.padEnd(widths[1]!)}  ${aim}\n`);
}

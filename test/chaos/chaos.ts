/** Random crashes under load: sessions are prompted and steered all the time while the worker is killed, then audited. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedAnswer, WireRequest } from '../agent/scripted-model.ts';
import { Random } from './random.ts';
import { Site, type WorkerProcess } from './site.ts';

export interface ChaosOptions {
  /** Decides when a worker dies, who prompts when, what a prompt asks for. The machine's own timing stays its own. */
  seed: number;
  /** How long prompts are sent and workers killed. */
  seconds: number;
  workflowBundle: string;
  /** Sessions that are prompted; default 8. */
  sessions?: number;
  log?: (line: string) => void;
}

export interface ChaosResult {
  seed: number;
  seconds: number;
  kills: number;
  sent: number;
  acknowledged: number;
  gaveUp: number;
  prompts: number;
  turns: number;
  readings: number;
  events: number;
  reasons: Record<string, number>;
  settleSeconds: number;
  findings: string[];
}

/** A run that nobody prompts again asks the log after a minute; a lost activity is noticed after ten seconds. */
const SETTLE_MS = 180_000;
const GIVE_UP_MS = 5_000;

export async function chaos({
  seed,
  seconds,
  workflowBundle,
  sessions = 8,
  log = () => undefined,
}: ChaosOptions): Promise<ChaosResult> {
  const site = await Site.open(workflowBundle, script);
  try {
    const until = Date.now() + seconds * 1000;
    const acknowledged = new Map<string, string>();
    const counts = { kills: 0, sent: 0, gaveUp: 0 };
    let worker: WorkerProcess = site.startWorker();
    await worker.ready;

    const killer = async () => {
      const random = new Random(seed);
      while (Date.now() < until) {
        await sleep(random.between(1_500, 7_000));
        worker.kill('SIGKILL');
        counts.kills += 1;
        await worker.ended;
        worker = site.startWorker();
        await worker.ready;
      }
    };
    const prompter = async (index: number) => {
      const random = new Random(seed + 1 + index);
      const sessionId = `chaos-${index}`;
      for (let n = 0; Date.now() < until; n += 1) {
        const promptId = `${sessionId}-${n}`;
        const text = `tools ${random.below(4)} of ${promptId}`;
        counts.sent += 1;
        // One caller in four gives up after an error and never repeats the prompt id.
        const patient = random.below(4) > 0;
        const receipt = await deliver(
          site,
          sessionId,
          text,
          promptId,
          patient ? SETTLE_MS : GIVE_UP_MS,
          patient,
        );
        if (receipt) acknowledged.set(promptId, sessionId);
        else counts.gaveUp += 1;
        // Often shorter than a turn: the next prompt steers.
        await sleep(random.between(0, 1_500));
      }
    };
    const reporter = setInterval(
      () =>
        log(
          `${Math.round((until - Date.now()) / 1000)} s to go: ${counts.kills} kills, ${acknowledged.size} of ${counts.sent} prompts acknowledged`,
        ),
      10_000,
    );
    try {
      await Promise.all([killer(), ...Array.from({ length: sessions }, (_, index) => prompter(index))]);
      const settling = Date.now();
      log('settling');
      await site.settled(acknowledged, SETTLE_MS);
      const settleSeconds = Math.round((Date.now() - settling) / 1000);
      const audited = await site.audit(acknowledged);
      return { seed, seconds, ...counts, acknowledged: acknowledged.size, settleSeconds, ...audited };
    } finally {
      clearInterval(reporter);
    }
  } finally {
    await site.close();
  }
}

/** Answers as a model would: as many tool calls as the newest prompt asks for, one a step, then text. */
async function script({ messages }: WireRequest): Promise<ScriptedAnswer> {
  await sleep(20 + Math.random() * 200);
  const asked = messages.findLastIndex(
    ({ role, content }) => role === 'user' && content?.startsWith('tools '),
  );
  const wanted = Number(/tools (\d)/.exec(messages[asked]!.content!)![1]);
  const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  if (done >= wanted) return { text: 'done' };
  return done % 2 === 0
    ? { calls: [{ name: 'convert_units', arguments: '{"value":1,"from":"km","to":"mile"}' }] }
    : { calls: [{ name: 'take_effect', arguments: '{}' }] };
}

async function deliver(
  site: Site,
  sessionId: string,
  text: string,
  promptId: string,
  forMs: number,
  again: boolean,
): Promise<boolean> {
  const until = Date.now() + forMs;
  for (;;) {
    try {
      await Promise.race([
        site.send(sessionId, text, promptId, { once: !again }),
        sleep(Math.max(until - Date.now(), 0), undefined, { ref: false }).then(() => {
          throw new Error('gave up');
        }),
      ]);
      return true;
    } catch {
      if (!again || Date.now() > until) return false;
      await sleep(200);
    }
  }
}

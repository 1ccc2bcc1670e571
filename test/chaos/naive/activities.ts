import { DatabaseSync } from 'node:sqlite';
import type { CommitHook } from '../../../src/session/session-log.ts';

export interface NaiveStep {
  sessionId: string;
  step: number;
  prompts: string[];
}

export type NaiveActivities = ReturnType<typeof naiveActivities>;

/** First write wins, by (session, step); a step without prompts ends the turn. */
export function naiveActivities(path: string, onCommit: CommitHook) {
  return {
    async naiveStep({ sessionId, step, prompts }: NaiveStep): Promise<{ ended: boolean }> {
      const database = openNaive(path);
      try {
        await onCommit('preStep', 'before');
        database
          .prepare('insert into steps values (?, ?, ?) on conflict do nothing')
          .run(sessionId, step, JSON.stringify(prompts));
        const stands = database
          .prepare('select prompts from steps where session = ? and step = ?')
          .get(sessionId, step);
        await onCommit('preStep', 'after');
        return { ended: (JSON.parse(stands!.prompts as string) as string[]).length === 0 };
      } finally {
        database.close();
      }
    },
  };
}

/** All prompts that the naive store holds. */
export function naivePrompts(path: string): string[] {
  const database = openNaive(path);
  try {
    return database
      .prepare('select prompts from steps')
      .all()
      .flatMap(({ prompts }) => JSON.parse(prompts as string) as string[]);
  } finally {
    database.close();
  }
}

function openNaive(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 1_000 });
  database.exec(
    'create table if not exists steps (session text, step integer, prompts text, primary key (session, step))',
  );
  return database;
}

import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** In order of their names; a released one is never edited. */
export const migrations: Record<string, Migration> = {
  '0001-log': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('sessions')
        .addColumn('session_id', 'text', (c) => c.primaryKey())
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('header', 'text', (c) => c.notNull())
        .addColumn('next_seq', 'bigint', (c) => c.notNull())
        .addColumn('turn', 'bigint', (c) => c.notNull())
        .addColumn('turn_key', 'text')
        .addColumn('turn_open', 'integer', (c) => c.notNull())
        .addColumn('step', 'bigint', (c) => c.notNull())
        .addColumn('step_open', 'integer', (c) => c.notNull())
        .execute();
      await db.schema
        .createTable('events')
        .addColumn('session_id', 'text', (c) => c.notNull())
        .addColumn('seq', 'bigint', (c) => c.notNull())
        .addColumn('type', 'text', (c) => c.notNull())
        .addColumn('time', 'bigint', (c) => c.notNull())
        .addColumn('data', 'text')
        .addColumn('blob', 'text')
        .addColumn('surface_op', 'text')
        .addColumn('source_seqs', 'text')
        .addColumn('turn', 'bigint')
        .addColumn('step', 'bigint')
        .addColumn('turn_key', 'text')
        .addColumn('slot', 'text')
        .addColumn('prompt_id', 'text')
        .addColumn('zone', 'text')
        .addColumn('is_baseline', 'integer', (c) => c.notNull())
        .addColumn('is_reading', 'integer', (c) => c.notNull())
        .addColumn('surface_key', 'bigint')
        .addColumn('shadowed_by', 'bigint')
        .addPrimaryKeyConstraint('events_key', ['session_id', 'seq'])
        .execute();
      const index = (name: string, columns: string, where: string, unique = '') =>
        sql.raw(`create ${unique} index ${name} on events (${columns}) where ${where}`).execute(db);
      await index('events_slot', 'session_id, turn_key, step, slot', 'slot is not null', 'unique');
      await index('events_prompt', 'session_id, prompt_id', 'prompt_id is not null', 'unique');
      await index('events_zone', 'session_id, turn, seq', 'zone is not null');
      await index('events_baseline', 'session_id, seq', 'is_baseline = 1');
      await index('events_reading', 'session_id, seq', 'is_reading = 1');
      await index('events_header', 'session_id, seq', "type = 'request/header'");
      await index('events_turn', 'session_id, turn', "type = 'turn/start'");
      await index(
        'events_surface',
        'session_id, surface_key',
        'surface_key is not null and shadowed_by is null',
      );
      await db.schema
        .createTable('blobs')
        .addColumn('digest', 'text', (c) => c.primaryKey())
        .addColumn('body', 'text', (c) => c.notNull())
        .execute();
      await db.schema
        .createTable('closed_keys')
        .addColumn('session_id', 'text', (c) => c.notNull())
        .addColumn('turn_key', 'text', (c) => c.notNull())
        .addColumn('reason', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('closed_keys_key', ['session_id', 'turn_key'])
        .execute();
      await db.schema
        .createTable('meta')
        .addColumn('name', 'text', (c) => c.primaryKey())
        .addColumn('value', 'text', (c) => c.notNull())
        .execute();
    },
  },
};

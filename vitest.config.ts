import { defineConfig } from 'vitest/config';

const CRASH = 'test/chaos/forced-crash.test.ts';
const CHAOS = 'test/chaos/chaos.test.ts';

export default defineConfig({
  test: {
    // The Temporal SDK's native part keeps one runtime a process: worker threads would share and break it.
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: 'test/global-setup.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One group after the other: crash tests start so many processes that what is timed beside them would be late.
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [CRASH, CHAOS],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'chaos', include: [CHAOS], sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: {
          name: 'crash',
          include: [CRASH],
          sequence: { groupOrder: 2 },
          // They wait for time-outs of the server most of the time.
          maxConcurrency: 12,
        },
      },
    ],
  },
});

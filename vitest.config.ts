import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The Temporal SDK's native part keeps one runtime a process: worker threads would share and break it.
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: 'test/global-setup.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Crash tests wait for time-outs of the server most of the time.
    maxConcurrency: 12,
  },
});

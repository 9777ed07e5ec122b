import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/*/test/**/*.test.ts', 'examples/**/*.test.ts'],
    // Processes, so that a test's peers do not share an event loop with other tests' peers.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000
  }
})

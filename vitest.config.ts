import { defineConfig } from 'vitest/config'

/** Tests that compare rates, times or memory: they have the machine to themselves, as far as two at a time leave it. */
const measuring = ['packages/peer/test/**/*.test.ts', 'test/{bench,cluster,simulator}/test/**/*.test.ts']

const common = {
  // Processes, so that a test's peers do not share an event loop with other tests' peers.
  pool: 'forks' as const,
  // Generous: tests start processes, several at a time, on machines that may be busy; what is timed is never a test's end.
  testTimeout: 120_000,
  hookTimeout: 120_000
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'measuring',
          include: measuring,
          maxWorkers: 2,
          sequence: { groupOrder: 1 }
        }
      },
      {
        // Most of these wait for processes and for other peers' timers half of the time.
        test: {
          ...common,
          name: 'others',
          include: ['packages/*/test/**/*.test.ts', 'test/*/test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: [...measuring, '**/node_modules/**'],
          maxWorkers: 4,
          sequence: { groupOrder: 2 }
        }
      }
    ]
  }
})

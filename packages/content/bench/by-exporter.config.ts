import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The package's tests, reading by ipfs-unixfs-exporter instead of by our own code. */
export default defineConfig({
  resolve: {
    alias: [{ find: /^\.\/read\/(cat|directory|resolve)\.ts$/, replacement: fileURLToPath(new URL('by-exporter.ts', import.meta.url)) }]
  },
  test: { include: ['packages/content/test/**/*.test.ts'], pool: 'forks', maxWorkers: 2, testTimeout: 60_000, hookTimeout: 60_000 }
})

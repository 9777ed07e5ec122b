import { runCommand } from './command.ts'
import { printing } from './printing.ts'

/**
 * What a change of a core has to pass, in about a minute on one core: rules in every run, and the targets. Rows of the
 * benchmarks have all ten seeds, since the median of two is chance in those where much hangs on who holds what.
 */
const commands = [
  'canary',
  'storm --policy shardswap --runs 4',
  'go-benchmarks --policy shardswap --check',
  'wan --policy shardswap --check --runs 1',
  'remembered-and-new --policy shardswap --check --runs 1',
  'delays --check --runs 1',
  'twenty-children --policy shardswap --check --runs 2',
  'many-sessions --policy shardswap --check --runs 1',
  'slow-honest --check --runs 1',
  'healthy --policy shardswap --check --runs 2',
  'dead-peer --policy shardswap --check --runs 3',
  'shares --policy shardswap --check --runs 1',
  'silent-30 --policy shardswap,oracle --check --runs 1',
  'short-sessions --policy shardswap,one-want-block --check --runs 1',
  'half-bad --policy shardswap,one-want-block --check --runs 1',
  'tail-at-scale --policy shardswap,shardswap-no-backups --check --runs 1',
  'sybils --policy shardswap --check --runs 1',
  'whitewash --policy shardswap --check --runs 1',
  'hog --check --runs 1',
  'overload --policy shardswap,shardswap-no-backups --check --runs 1',
  'churn-10k --check --runs 1'
]

const usage = `Usage: pnpm simulate:check

Runs what a change of a core has to pass, in about a minute:
${commands.map((command) => `  pnpm simulate ${command}`).join('\n')}

Exit codes: 0 all is met, 1 a rule was broken or a target missed, 2 wrong usage.`

const output = printing()
const [word] = process.argv.slice(2)
if (word === '--help') output.out(usage)
else if (word !== undefined) {
  output.error(`simulate:check takes no ${word}\n\n${usage}`)
  process.exitCode = 2
} else {
  for (const command of commands) {
    const code = await runCommand(command.split(' '), output)
    if (code !== 0) process.exitCode = code
  }
}

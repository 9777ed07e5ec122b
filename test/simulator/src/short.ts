import { runCommand } from './command.ts'

/** What a change of a core has to pass, in well under a minute: rules in every run, and the targets of quick scenarios. */
const commands = [
  'canary',
  'storm --policy shardswap --runs 4',
  'FixedDelay/10Nodes-AllToAll-UnixfsFetchLarge --check --runs 2',
  'FixedDelay/3Nodes-Overlap3-BatchBy10 --check --runs 4',
  'FixedDelay/200Nodes-AllToAll-BigBatch --check --runs 2',
  'twenty-children --policy shardswap --check --runs 2',
  'many-sessions --policy shardswap --check --runs 1',
  'slow-honest --check --runs 1',
  'healthy --policy shardswap --check --runs 2',
  'dead-peer --policy shardswap --check --runs 3'
]

for (const command of commands) {
  const code = runCommand(command.split(' '), {
    out: (line) => process.stdout.write(`${line}\n`),
    error: (line) => process.stderr.write(`${line}\n`)
  })
  if (code !== 0) process.exitCode = code
}

import { missingWord, version } from '@shardswap/daemon'
import { Command } from 'commander'
import { registerAdd } from './commands/add.ts'
import { registerAdmission } from './commands/admission.ts'
import { registerBitswap } from './commands/bitswap.ts'
import { registerBlock } from './commands/block.ts'
import { registerConfig } from './commands/config.ts'
import { registerDag } from './commands/dag.ts'
import { registerDaemon } from './commands/daemon.ts'
import { registerDemo } from './commands/demo.ts'
import { registerGet } from './commands/get.ts'
import { registerHealth } from './commands/health.ts'
import { registerLedger } from './commands/ledger.ts'
import { registerNode } from './commands/node.ts'
import { registerPeers } from './commands/peers.ts'
import { registerPing } from './commands/ping.ts'
import { registerPin } from './commands/pin.ts'
import { registerRead } from './commands/read.ts'
import { registerRefs } from './commands/refs.ts'
import { registerRegister } from './commands/register.ts'
import { registerRepo } from './commands/repo.ts'
import { registerReport } from './commands/report.ts'
import { registerStats } from './commands/stats.ts'
import { registerRouting } from './commands/routing.ts'
import { registerSwarm } from './commands/swarm.ts'
import { exitCodes } from './errors.ts'
import { examples } from './examples.ts'
import { globalOptions } from './options.ts'
import type { Shell } from './shell.ts'

const exitCodesText = `
Exit codes: ${exitCodes.ok} done, ${exitCodes.failed} failed, ${exitCodes.usage} wrong usage, ${exitCodes.notFound} not found, \
${exitCodes.timedOut} timed out, ${exitCodes.noPeers} no peers, ${exitCodes.notVerified} does not verify, \
${exitCodes.interrupted} interrupted (Ctrl-C).`

/** What Commander says of a mistake; of Kubo's commands that are not here, as the API says it. */
function mistakeText(text: string, program: Command): string {
  const word = /^error: unknown command '([^']*)'/.exec(text)?.[1]
  if (word === undefined || program.commands.some((command) => command.name() === word)) return text
  const said = missingWord(word)
  return said === undefined ? text : `error: ${said}\n`
}

/** The whole command line. */
export function createProgram(shell: Shell): Command {
  const program: Command = new Command('shardswap')
    .description('Swap content-addressed blocks with IPFS peers over Bitswap')
    .version(`shardswap version ${version}`, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(mistakeText(text, program)) })
    .showHelpAfterError('Add --help for the options and examples.')
    .configureHelp({ showGlobalOptions: true })
    .helpCommand('help [command]', 'Show the help of a command')
  for (const option of globalOptions()) program.addOption(option)
  registerDemo(program, shell)
  registerRepo(program, shell)
  registerConfig(program, shell)
  registerDaemon(program, shell)
  registerAdd(program, shell)
  registerRead(program, shell)
  registerGet(program, shell)
  registerBlock(program, shell)
  registerDag(program, shell)
  registerRefs(program, shell)
  registerPin(program, shell)
  registerSwarm(program, shell)
  registerRouting(program, shell)
  registerBitswap(program, shell)
  registerPing(program, shell)
  registerPeers(program, shell)
  registerReport(program, shell)
  registerLedger(program, shell)
  registerAdmission(program, shell)
  registerRegister(program, shell)
  registerNode(program, shell)
  registerHealth(program, shell)
  registerStats(program, shell)
  return examples(program, [
    ['shardswap demo', 'see it work: four peers on this machine'],
    ['shardswap init', 'make a repo'],
    ['shardswap add -r photos', 'add a folder and print its CID'],
    ['shardswap daemon', 'serve it to peers'],
    ['shardswap get --peer /ip4/192.0.2.1/tcp/4001/p2p/12D3… bafy…', 'fetch from a peer'],
    ['shardswap add --help', 'options and examples of a command']
  ]).addHelpText('after', exitCodesText)
}

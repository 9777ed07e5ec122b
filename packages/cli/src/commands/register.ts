/** `register` with what belongs to it, and `unregister`: to which server and owner a client key belongs. */
import { bindingShape, checkPrivateKey, keyFileBytesMax, ownRegistrationShape } from '@shardswap/daemon'
import { messageOf, readWhole, TooLargeError } from '@shardswap/interface'
import type { BindingStat } from '@shardswap/peer'
import { type Command, Option } from 'commander'
import { peerArgument } from '../arguments.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { examples } from '../examples.ts'
import { lifetimeMs, someText } from '../options.ts'
import type { Shell } from '../shell.ts'
import { formatDate, printable } from '../terminal/format.ts'
import { readInput } from '../terminal/input.ts'

interface Flags {
  readonly ownerKey?: string
  readonly clientKey?: string
  readonly serverClaim?: string
  /** Milliseconds. */
  readonly lifetime?: number
  readonly client?: string
  readonly none?: boolean
}

/** One binding or revocation, for people. */
export function bindingLine({ kind, client, server, owner, expiresMs, isRenewed }: BindingStat): string {
  const until = `until ${formatDate(expiresMs)}${isRenewed ? ', renewed while the daemon runs' : ''}`
  if (client === server && client === owner) return `${client} is its own server and owner, ${until}`
  return kind === 'binding'
    ? `client key ${client} belongs to the server ${server ?? '–'} of ${owner}, ${until}`
    : `client key ${client} belongs to no server of ${owner} any more`
}

async function fileBytes(path: string, signal: AbortSignal): Promise<Uint8Array> {
  return await readWhole(readInput(path, signal), (bytes) => {
    if (bytes > keyFileBytesMax)
      throw new TooLargeError(`${path} is more than ${keyFileBytesMax} bytes: that is no key, claim or delegation`)
  })
}

/** The bytes of a private key, looked at before anything is done with them. */
async function keyIn(path: string | undefined, signal: AbortSignal): Promise<Uint8Array | undefined> {
  if (path === undefined) return undefined
  const bytes = await fileBytes(path, signal)
  try {
    await checkPrivateKey(bytes)
  } catch (error) {
    throw new UsageError(`${path}: ${messageOf(error)}`)
  }
  return bytes
}

async function textIn(path: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  return path === undefined ? undefined : new TextDecoder().decode(await fileBytes(path, signal)).trim()
}

async function register(context: Context, flags: Flags): Promise<void> {
  const { signal, out, options } = context
  const ownerKey = await keyIn(flags.ownerKey, signal)
  const clientKey = await keyIn(flags.clientKey, signal)
  const serverClaim = await textIn(flags.serverClaim, signal)
  const asked = { ownerKey, clientKey, serverClaim, lifetimeMs: flags.lifetime, signal }
  const binding = await context.withNode(async (node) => await node.register(asked))
  if (options.json === true) return await out.json(bindingShape(binding))
  await out.line(printable(bindingLine(binding)))
}

async function unregister(context: Context, flags: Flags): Promise<void> {
  const { signal, out, options } = context
  const client = flags.client === undefined ? undefined : peerArgument(flags.client)
  const ownerKey = await keyIn(flags.ownerKey, signal)
  const revoked = await context.withNode(async (node) => await node.unregister({ ownerKey, client, signal }))
  if (options.json === true) return await out.json({ Revoked: revoked.map(bindingShape) })
  if (revoked.length === 0) await out.line('There was nothing to revoke.')
  for (const revocation of revoked) await out.line(printable(bindingLine(revocation)))
}

async function claim(context: Context, owner: string, flags: Flags): Promise<void> {
  const { signal, out, options } = context
  peerArgument(owner)
  const text = await context.withNode(async (node) => await node.serverClaim(owner, { lifetimeMs: flags.lifetime, signal }))
  await (options.json === true ? out.json({ Claim: text }) : out.line(text))
}

async function delegate(context: Context, peer: string, flags: Flags): Promise<void> {
  const { signal, out, options } = context
  peerArgument(peer)
  const clientKey = await keyIn(flags.clientKey, signal)
  const asked = { clientKey, lifetimeMs: flags.lifetime, signal }
  const text = await context.withNode(async (node) => await node.delegate(peer, asked))
  await (options.json === true ? out.json({ Delegation: text }) : out.line(text))
}

async function use(context: Context, path: string | undefined, flags: Flags): Promise<void> {
  if ((path === undefined) === (flags.none !== true)) throw new UsageError('name a file with a delegation, or give --none')
  const { signal, out, options } = context
  const delegation = await textIn(path, signal)
  const own = await context.withNode(async (node) => await node.useDelegation(delegation, { signal }))
  if (options.json === true) return await out.json(ownRegistrationShape(own))
  const as = own.client === own.peer ? 'its own identity' : `the client key ${own.client}`
  const until = own.delegationExpiresMs === undefined ? '' : `, until ${formatDate(own.delegationExpiresMs)}`
  await out.line(printable(`${own.peer} makes its requests under ${as}${until}`))
}

function ownerKeyOption(): Option {
  return new Option('--owner-key <file>', 'who signs as the owner: the file "identity.key" of a repo; this node by default').argParser(
    someText
  )
}

function clientKeyOption(): Option {
  return new Option('--client-key <file>', "the client key: such a file; this node's identity by default").argParser(someText)
}

function lifetimeOption(standard: string): Option {
  return new Option('--lifetime <duration>', `how long it holds, e.g. 12h or 30d (default: ${standard})`).argParser(lifetimeMs)
}

type Run = (context: Context, flags: Flags) => Promise<void>

async function runWith(shell: Shell, command: Command, run: Run): Promise<void> {
  await shell.run(command, async (context) => {
    checkOptions(command)
    // The parser gives a group's own options to the group, wherever they stand: the flags of both count.
    await run(context, command.optsWithGlobals<Flags>())
  })
}

/** Options of the group that its subcommand does not have would do nothing. */
function checkOptions({ parent, options }: Command): void {
  if (parent === null || parent.parent === null) return
  const own = new Set(options.map((option) => option.attributeName()))
  const given = new Set(Object.keys(parent.opts()))
  const stray = parent.options.find((option) => given.has(option.attributeName()) && !own.has(option.attributeName()))
  if (stray !== undefined) throw new UsageError(`${stray.long ?? stray.flags} goes with "${parent.name()}" alone`)
}

/** A subcommand whose help names, beside its own options, those of every command; not its group's. */
function subcommand(group: Command, name: string): Command {
  return group.command(name).configureHelp({ showGlobalOptions: true, visibleGlobalOptions: () => [...(group.parent?.options ?? [])] })
}

export function registerRegister(program: Command, shell: Shell): void {
  const command = program
    .command('register')
    .description('Say to which server, and so to which owner, a client key belongs; with no options: that this node is its own owner')
    .addOption(ownerKeyOption())
    .addOption(clientKeyOption())
    .addOption(
      new Option(
        '--server-claim <file>',
        'what the server says of its owner ("register claim" there); this node is the server by default'
      ).argParser(someText)
    )
    .addOption(lifetimeOption('7d'))
  examples(command, [
    ['shardswap register', 'what this node asks for counts by what it serves'],
    ['shardswap register --owner-key owner/identity.key', 'this node belongs to an owner with several'],
    ['shardswap register --owner-key owner/identity.key --server-claim claim.txt', 'this node asks, and another one of the owner serves']
  ]).action(async (_flags: unknown, command: Command) => await runWith(shell, command, register))
  registerTexts(command, shell)

  const unregisterCommand = program
    .command('unregister')
    .description("Take back what was registered: bindings of this node's client key, and those that point to it")
    .addOption(ownerKeyOption())
    .addOption(new Option('--client <id>', 'the client key whose binding ends, wherever it points').argParser(someText))
  examples(unregisterCommand, [
    ['shardswap unregister', "this node is nobody's any more, its own neither"],
    ['shardswap unregister --owner-key owner/identity.key --client 12D3…', 'a client key that was lost']
  ]).action(async (_flags: unknown, command: Command) => await runWith(shell, command, unregister))
}

/** Texts that are carried from one machine to another. */
function registerTexts(group: Command, shell: Shell): void {
  const claimCommand = subcommand(group, 'claim')
    .description('Print this server\'s word that it belongs to an owner, for "register --server-claim" on another machine')
    .argument('<owner>', "the owner's id")
    .addOption(lifetimeOption('30d'))
  examples(claimCommand, [['shardswap register claim 12D3… > claim.txt', 'on the machine that serves']]).action(
    async (owner: string, _flags: unknown, command: Command) =>
      await runWith(shell, command, async (context, flags) => await claim(context, owner, flags))
  )
  const delegateCommand = subcommand(group, 'delegate')
    .description('Print a client key\'s word that a peer may make requests under it, for "register use" there')
    .argument('<peer>', 'the id of the peer that may')
    .addOption(clientKeyOption())
    .addOption(lifetimeOption('30d'))
  examples(delegateCommand, [
    ['shardswap register delegate 12D3… > delegation.txt', "another machine may ask under this node's name"]
  ]).action(
    async (peer: string, _flags: unknown, command: Command) =>
      await runWith(shell, command, async (context, flags) => await delegate(context, peer, flags))
  )
  const useCommand = subcommand(group, 'use')
    .description("Make this node's requests under the client key that gave a delegation")
    .argument('[file]', 'the delegation; "-" for standard input')
    .option('--none', "make them under the node's own identity again")
  examples(useCommand, [
    ['shardswap register use delegation.txt', 'from now on, and after a restart'],
    ['shardswap register use --none', 'no longer']
  ]).action(
    async (path: string | undefined, _flags: unknown, command: Command) =>
      await runWith(shell, command, async (context, flags) => await use(context, path, flags))
  )
}

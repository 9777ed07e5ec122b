/** What is said where a peer cannot listen. */
import { ShardswapError } from '@shardswap/interface'
import { ListenError } from '../errors.ts'

/** What `start` gives. Errors: its own where they say what is wrong, else ListenError with the addresses. */
export async function listening<T>(listen: readonly string[], start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    // What the config or a key says, and cannot be, says so itself.
    if (error instanceof ShardswapError || listen.length === 0) throw error
    throw new ListenError(`cannot listen for peers on ${listen.join(', ')}: ${reasonText(error)}`, { cause: error })
  }
}

/** libp2p says why each address failed in lines of one message, with the stacks of their errors between them. */
function plainReason(message: string): string {
  const reasons = message.split('\n').flatMap((line) => /^\s+\/\S+: (?:\w*Error: )?(.+)$/.exec(line)?.[1] ?? [])
  return reasons.length === 0 ? message : [...new Set(reasons)].join('; ')
}

/** What the network layer says, from the innermost cause that names it. */
function reasonText(error: unknown): string {
  const seen = new Set<unknown>()
  const all: Error[] = []
  const visit = (next: unknown): void => {
    if (!(next instanceof Error) || seen.has(next)) return
    seen.add(next)
    all.push(next)
    visit(next.cause)
    if (next instanceof AggregateError) next.errors.forEach(visit)
  }
  visit(error)
  const busy =
    all.find((found) => 'port' in found && 'code' in found && found.code === 'EADDRINUSE') ??
    all.find((found) => found.message.includes('EADDRINUSE'))
  if (busy === undefined) return plainReason(all[0]?.message ?? String(error))
  const port = 'port' in busy ? String(busy.port) : /EADDRINUSE.*?:(\d+)/.exec(busy.message)?.[1]
  return port === undefined ? 'a port is in use by another program' : `port ${port} is in use by another program`
}

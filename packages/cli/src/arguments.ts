/** What a command's arguments mean; nonsense is a usage error before any repo is opened. */
import { parseDagPath, parsePath } from '@shardswap/content/disk'
import { checkPeerId, parseCid, parseMultiaddr } from '@shardswap/daemon'
import { type CID, messageOf } from '@shardswap/interface'
import { UsageError } from './errors.ts'

function orUsage<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** `CID`, `CID/path` or `/ipfs/CID/path`, checked and given back as it was. */
export function contentPath(text: string): string {
  orUsage(() => parsePath(text))
  return text
}

/** As `contentPath`, and `/ipld/CID/path` too. */
export function dagPath(text: string): string {
  orUsage(() => parseDagPath(text))
  return text
}

/** The last name of a path, by which `get` saves it. */
export function lastName(path: string): string {
  const { root, segments } = parsePath(path)
  return segments.at(-1) ?? root.toString()
}

export function cidArgument(text: string): CID {
  return orUsage(() => parseCid(text))
}

/** The id of a peer, checked and given back as it was. */
export function peerArgument(text: string): string {
  orUsage(() => checkPeerId(text))
  return text
}

/** Refuses what is no multiaddr, before anything is done. */
export function checkMultiaddrs(addresses: readonly string[]): void {
  for (const address of addresses) orUsage(() => parseMultiaddr(address))
}

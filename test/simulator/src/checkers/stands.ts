import type { BlockKey, PeerKey } from '@shardswap/interface'

/** A want of ours at a remote, by what was sent and what came back. */
export interface Line {
  type: 'block' | 'have'
  /** `open`: not answered. `late`: the core said that its time was over. */
  state: 'open' | 'answered' | 'late'
  /** A want-block that takes no slot of the peer's. */
  readonly isBackup: boolean
}

/** What stands at one remote. */
export interface Stand {
  readonly supportsHave: boolean
  readonly lines: Map<BlockKey, Line>
  /** Want-blocks that are open, and those of them that are backups. */
  inFlight: number
  backups: number
}

/** What stands where, as the remotes must see it: kept from messages alone, never asked of the core. */
export class Stands {
  readonly peers = new Map<PeerKey, Stand>()
  /** Of each key: peers that know HAVE and have an open want-block of it. */
  readonly copies = new Map<BlockKey, Set<PeerKey>>()
  /** Lines of each key that are open, of both types. */
  readonly open = new Map<BlockKey, number>()
  readonly #closed: (peer: PeerKey, key: BlockKey) => void

  /** `closed` is told of each want-block that is open no more. */
  constructor(closed: (peer: PeerKey, key: BlockKey) => void) {
    this.#closed = closed
  }

  connect(peer: PeerKey, supportsHave: boolean): void {
    const stand = this.peers.get(peer)
    const { lines = new Map<BlockKey, Line>(), inFlight = 0, backups = 0 } = stand ?? {}
    this.peers.set(peer, { supportsHave, lines, inFlight, backups })
  }

  disconnect(peer: PeerKey): void {
    const stand = this.peers.get(peer)
    if (stand === undefined) return
    for (const key of stand.lines.keys()) this.remove(peer, key)
    this.peers.delete(peer)
  }

  line(peer: PeerKey, key: BlockKey): Line | undefined {
    return this.peers.get(peer)?.lines.get(key)
  }

  add(peer: PeerKey, key: BlockKey, type: Line['type'], isBackup: boolean): void {
    const stand = this.peers.get(peer)
    if (stand === undefined) return
    this.remove(peer, key)
    stand.lines.set(key, { type, state: 'open', isBackup })
    this.open.set(key, (this.open.get(key) ?? 0) + 1)
    if (type === 'have') return
    stand.inFlight += 1
    if (isBackup) stand.backups += 1
    if (!stand.supportsHave) return
    const copies = this.copies.get(key)
    if (copies === undefined) this.copies.set(key, new Set([peer]))
    else copies.add(peer)
  }

  /** It was answered, or its time is over: it stands, and is not open any more. */
  settle(peer: PeerKey, key: BlockKey, state: 'answered' | 'late'): void {
    const stand = this.peers.get(peer)
    const line = stand?.lines.get(key)
    if (stand === undefined || line === undefined || line.state !== 'open') return
    this.#close(stand, peer, key, line)
    line.state = state
  }

  remove(peer: PeerKey, key: BlockKey): void {
    const stand = this.peers.get(peer)
    const line = stand?.lines.get(key)
    if (stand === undefined || line === undefined) return
    if (line.state === 'open') this.#close(stand, peer, key, line)
    stand.lines.delete(key)
  }

  #close(stand: Stand, peer: PeerKey, key: BlockKey, line: Line): void {
    const open = (this.open.get(key) ?? 0) - 1
    if (open > 0) this.open.set(key, open)
    else this.open.delete(key)
    if (line.type === 'have') return
    stand.inFlight -= 1
    if (line.isBackup) stand.backups -= 1
    this.#closed(peer, key)
    const copies = this.copies.get(key)
    copies?.delete(peer)
    if (copies?.size === 0) this.copies.delete(key)
  }
}

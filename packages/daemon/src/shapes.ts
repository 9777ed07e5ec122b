/**
 * Kubo's JSON for what a node answers, and back. The RPC writes these shapes,
 * our client reads them, and the command prints them with `--json`.
 */
import type { AddedEntry, DirectoryEntry, EntryType, UnixTime } from '@shardswap/content'
import { CID } from '@shardswap/interface'
import type { ConnectedPeer } from '@shardswap/peer'
import type { RepoStat, VerifyResult } from '@shardswap/repo'
import { goMode, goTime, modeOfGo } from './go-shapes.ts'
import type { BlockRemoved, BlockStat, NodeId, NodeImportResult, NodeVersion } from './node.ts'

/** JSON of an error, Kubo's with our name and code besides. */
export interface ErrorShape {
  readonly Message: string
  /** Kubo's class of the error: 0 in general, 1 the client's mistake, 4 forbidden. */
  readonly Code: number
  readonly Type: 'error'
  /** Not Kubo's: name and code of the error's class, the same in the library and the command. */
  readonly Name: string
  readonly ErrorCode: string
}

/** JSON of `version`, Kubo's. */
export interface VersionShape {
  readonly Version: string
  readonly Commit: string
  readonly Repo: string
  readonly System: string
  readonly Golang: string
  /** Not Kubo's: which program answers, and the repo that it serves. */
  readonly Program: string
  readonly Runtime: string
  readonly RepoPath: string
}

/** The program's name in `version`, by which our client knows a daemon of ours. */
export const programName = 'shardswap'

/** The JSON of `version`. */
export function versionShape(version: NodeVersion, repoPath: string): VersionShape {
  const { system, runtime } = version
  return {
    Version: version.version,
    Commit: '',
    Repo: String(version.repoVersion),
    System: system,
    Golang: '',
    Program: programName,
    Runtime: runtime,
    RepoPath: repoPath
  }
}

/** Reads the JSON of `version`. */
export function versionOf(shape: VersionShape): NodeVersion {
  return { version: shape.Version, repoVersion: Number(shape.Repo), system: shape.System, runtime: shape.Runtime }
}

/** JSON of `id`, Kubo's. */
export interface IdShape {
  readonly ID: string
  readonly PublicKey: string
  readonly Addresses: readonly string[]
  readonly AgentVersion: string
  readonly Protocols: readonly string[]
}

/** The JSON of `id`. */
export function idShape(id: NodeId): IdShape {
  const { publicKey, addresses, agentVersion, protocols } = id
  return { ID: id.id, PublicKey: publicKey, Addresses: addresses, AgentVersion: agentVersion, Protocols: protocols }
}

/** Reads the JSON of `id`. */
export function idOf(shape: IdShape): NodeId {
  return {
    id: shape.ID,
    publicKey: shape.PublicKey,
    addresses: shape.Addresses,
    agentVersion: shape.AgentVersion,
    protocols: shape.Protocols
  }
}

/** A line of `add`, Kubo's. */
export interface AddedShape {
  readonly Name: string
  readonly Hash: string
  readonly Size: string
}

/** The line of `add` for an entry. */
export function addedShape(entry: AddedEntry): AddedShape {
  return { Name: entry.path, Hash: entry.cid.toString(), Size: entry.size.toString() }
}

/** Reads a line of `add`. */
export function addedOf(shape: AddedShape): AddedEntry {
  return { path: shape.Name, cid: CID.parse(shape.Hash), size: BigInt(shape.Size) }
}

/** UnixFS's type numbers, which Kubo's `ls` gives; a raw leaf counts as a file there. */
const typeCodes: Record<EntryType, number> = { other: 0, directory: 1, file: 2, raw: 2, symlink: 4 }

/** JSON: an entry of a directory, Kubo's. */
export interface LinkShape {
  readonly Name: string
  readonly Hash: string
  readonly Size: number
  readonly Type: number
  readonly Target: string
  /** Go's number of it; 0 where none is known. */
  readonly Mode: number
  /** RFC 3339; the first second of year 1 where none is known. */
  readonly ModTime: string
  /** Not Kubo's: seconds since 1970, whatever the year. */
  readonly Mtime?: number
  readonly MtimeNsecs?: number
}

/** JSON of `ls`, Kubo's. */
export interface ListShape {
  readonly Objects: readonly { readonly Hash: string; readonly Links: readonly LinkShape[] }[]
}

/** The JSON of an entry of a directory. */
export function linkShape(entry: DirectoryEntry): LinkShape {
  const shape = {
    Name: entry.name,
    Hash: entry.cid.toString(),
    Size: Number(entry.size),
    Type: typeCodes[entry.type],
    Target: '',
    Mode: goMode(entry.mode, entry.type),
    ModTime: goTime(entry.mtime)
  }
  return { ...shape, ...timeShape(entry.mtime) }
}

/** The JSON of `ls` for one path. */
export function listShape(path: string, entries: readonly DirectoryEntry[]): ListShape {
  return { Objects: [{ Hash: path, Links: entries.map(linkShape) }] }
}

/** Reads the JSON of an entry of a directory. */
export function linkOf(shape: LinkShape): DirectoryEntry {
  const types: Record<number, EntryType> = { 1: 'directory', 2: 'file', 4: 'symlink', 5: 'directory' }
  const mode = modeOfGo(shape.Mode)
  const mtime = shape.Mtime === undefined ? undefined : unixTime(BigInt(shape.Mtime), shape.MtimeNsecs)
  return {
    name: shape.Name,
    cid: CID.parse(shape.Hash),
    type: types[shape.Type] ?? 'other',
    size: BigInt(shape.Size),
    ...(mode === undefined ? {} : { mode }),
    ...(mtime === undefined ? {} : { mtime })
  }
}

function timeShape(mtime: UnixTime | undefined): { Mtime?: number; MtimeNsecs?: number } {
  if (mtime === undefined) return {}
  return { Mtime: Number(mtime.secs), ...(mtime.nsecs === undefined ? {} : { MtimeNsecs: mtime.nsecs }) }
}

/** A mode as four octal digits, as `ls` and uploads write it. */
export function modeText(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

/** Seconds and nanoseconds since 1970; nanoseconds of 0 are left out. */
export function unixTime(secs: bigint, nsecs: number | undefined): UnixTime {
  return nsecs === undefined || nsecs === 0 ? { secs } : { secs, nsecs }
}

/** JSON of `block/put` and `block/stat`, Kubo's. */
export interface BlockShape {
  readonly Key: string
  readonly Size: number
}

/** The JSON of a block and its size. */
export function blockShape(stat: BlockStat): BlockShape {
  return { Key: stat.cid.toString(), Size: stat.size }
}

/** Reads the JSON of a block and its size. */
export function blockOf(shape: BlockShape): BlockStat {
  return { cid: CID.parse(shape.Key), size: shape.Size }
}

/** A line of `block/rm`, Kubo's. */
export interface RemovedShape {
  readonly Hash: string
  readonly Error?: string
}

/** The line of `block/rm` for a block. */
export function removedShape(removed: BlockRemoved): RemovedShape {
  return { Hash: removed.cid.toString(), ...(removed.error === undefined ? {} : { Error: removed.error }) }
}

/** Reads a line of `block/rm`. */
export function removedOf(shape: RemovedShape): BlockRemoved {
  const cid = CID.parse(shape.Hash)
  return shape.Error === undefined || shape.Error === '' ? { cid } : { cid, error: shape.Error }
}

/** A line of `dag/import`, Kubo's: a root, or the sums at the end. */
export interface ImportShape {
  readonly Root?: { readonly Cid: { readonly '/': string }; readonly PinErrorMsg: string }
  readonly Stats?: {
    readonly BlockCount: number
    readonly BlockBytesCount: number
    /** Not Kubo's: all roots, and those whose block is neither in the archive nor in the repo. */
    readonly Roots: readonly string[]
    readonly MissingRoots: readonly string[]
  }
}

/** The lines of `dag import`: one for each root that was to be pinned, then the statistics. */
export function importShapes(result: NodeImportResult): ImportShape[] {
  const reasons = new Map(result.unpinned.map(({ cid, reason }) => [cid.toString(), reason]))
  const roots = result.roots.map(String)
  const pins = result.isPinned ? roots.map((root) => ({ Root: { Cid: { '/': root }, PinErrorMsg: reasons.get(root) ?? '' } })) : []
  const stats = { BlockCount: result.blocks, BlockBytesCount: result.bytes, Roots: roots, MissingRoots: result.missingRoots.map(String) }
  return [...pins, { Stats: stats }]
}

function parsedCids(texts: readonly string[] = []): CID[] {
  return texts.map((text) => CID.parse(text))
}

/** Reads the lines of `dag/import`. */
export function importOf(lines: readonly ImportShape[]): NodeImportResult {
  const pins = lines.flatMap(({ Root }) => (Root === undefined ? [] : [{ cid: CID.parse(Root.Cid['/']), reason: Root.PinErrorMsg }]))
  const stats = lines.find((line) => line.Stats !== undefined)?.Stats
  return {
    roots: stats === undefined ? pins.map(({ cid }) => cid) : parsedCids(stats.Roots),
    blocks: stats?.BlockCount ?? 0,
    bytes: stats?.BlockBytesCount ?? 0,
    missingRoots: parsedCids(stats?.MissingRoots),
    isPinned: pins.length > 0,
    unpinned: pins.filter(({ reason }) => reason !== '')
  }
}

/** JSON: a connected peer, Kubo's. */
export interface PeerShape {
  readonly Addr: string
  readonly Peer: string
  readonly Latency: string
  readonly Muxer: string
  /** 0 unknown, 1 inbound, 2 outbound. */
  readonly Direction: number
  readonly Streams: readonly { readonly Protocol: string }[]
  readonly Identify: object
}

/** The JSON of a connected peer. */
export function peerShape(peer: ConnectedPeer): PeerShape {
  return {
    Addr: peer.addr.replace(/\/p2p\/[^/]+$/, ''),
    Peer: peer.peer,
    Latency: peer.latencyMs === undefined ? 'n/a' : `${peer.latencyMs.toFixed(3)}ms`,
    Muxer: '',
    Direction: peer.direction === 'inbound' ? 1 : 2,
    Streams: peer.protocols.map((Protocol) => ({ Protocol })),
    Identify: {}
  }
}

/** Reads the JSON of a connected peer. */
export function peerOf(shape: PeerShape): ConnectedPeer {
  const latencyMs = Number.parseFloat(shape.Latency)
  return {
    peer: shape.Peer,
    addr: shape.Addr,
    direction: shape.Direction === 1 ? 'inbound' : 'outbound',
    protocols: shape.Streams.map((stream) => stream.Protocol),
    ...(Number.isNaN(latencyMs) ? {} : { latencyMs })
  }
}

/** JSON of `repo/stat`, Kubo's with the version as a number besides. */
export interface RepoStatShape {
  readonly RepoSize: number
  readonly StorageMax: number
  readonly NumObjects: number
  readonly RepoPath: string
  readonly Version: string
  /** Not Kubo's: the sum of the blocks' sizes. */
  readonly BlockBytes: number
}

/** The JSON of `repo/stat`. */
export function repoStatShape(stat: RepoStat): RepoStatShape {
  return {
    RepoSize: stat.diskBytes,
    // No limit: the largest integer that JSON's readers agree on.
    StorageMax: stat.maxBytes ?? Number.MAX_SAFE_INTEGER,
    NumObjects: stat.blocks,
    RepoPath: stat.path,
    Version: `fs-repo@${stat.version}`,
    BlockBytes: stat.blockBytes
  }
}

/** Reads the JSON of `repo/stat`. */
export function repoStatOf(shape: RepoStatShape): RepoStat {
  return {
    path: shape.RepoPath,
    version: Number(shape.Version.split('@')[1]),
    blocks: shape.NumObjects,
    blockBytes: shape.BlockBytes,
    diskBytes: shape.RepoSize,
    ...(shape.StorageMax === Number.MAX_SAFE_INTEGER ? {} : { maxBytes: shape.StorageMax })
  }
}

/** A line of `repo/verify`, Kubo's. */
export interface VerifyShape {
  readonly Msg: string
  readonly Progress: number
  /** Not Kubo's: the block, and whether it is as its CID says. */
  readonly Hash?: string
  readonly Ok?: boolean
}

/** The line of `repo/verify` for a block; `progress`: how many were read before. */
export function verifyShape(result: VerifyResult, progress: number): VerifyShape {
  const Msg = result.ok ? '' : `block ${result.cid.toString()} was corrupt (${result.reason ?? 'unknown reason'})`
  return { Msg, Progress: progress, Hash: result.cid.toString(), Ok: result.ok }
}

/** Reads a line of `repo/verify`; undefined for one that names no block. */
export function verifyOf(shape: VerifyShape): VerifyResult | undefined {
  if (shape.Hash === undefined) return undefined
  const cid = CID.parse(shape.Hash)
  return shape.Ok === true ? { cid, ok: true } : { cid, ok: false, reason: shape.Msg }
}

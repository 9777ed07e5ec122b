import { importer, type ImporterOptions } from 'ipfs-unixfs-importer'
import * as limits from '../limits.ts'
import type { Attributes, Child, Format } from './format.ts'
import type { BoundedSink } from './sink.ts'
import { ImporterStore } from './store.ts'

/** A name in a directory, and what it leads to. */
export interface Named extends Child {
  readonly name: string
}

/**
 * Writes a directory, sharded where Kubo would shard it. The importer sees one
 * directory at a time, with children that are written already: over a whole
 * tree it takes sub-directories for nothing when it decides whether to shard.
 * Errors: the sink's.
 */
export async function putDirectory(sink: BoundedSink, format: Format, entries: readonly Named[], attributes: Attributes): Promise<Child> {
  const store = new ImporterStore(sink, format)
  const written = importer([], store, {
    cidVersion: format.cidVersion,
    wrapWithDirectory: true,
    dagBuilder: writtenChildren(entries),
    shardSplitThresholdBytes: limits.directoryBytesMax,
    shardFanoutBits: Math.log2(limits.shardFanout)
  })
  for await (const _ of written);
  return await store.finish(attributes)
}

function writtenChildren(entries: readonly Named[]): NonNullable<ImporterOptions['dagBuilder']> {
  return async function* () {
    for (const { name, cid, dagBytes } of entries) yield async () => ({ path: name, cid, size: BigInt(dagBytes) })
  }
}

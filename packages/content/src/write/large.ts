import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import type { ImporterOptions, InProgressImportResult, WritableStorage } from 'ipfs-unixfs-importer'
import * as raw from 'multiformats/codecs/raw'
import { encodeData } from './data.ts'
import { cidOf, type Format } from './format.ts'

type FileLayout = NonNullable<ImporterOptions['layout']>

/** From here on the library's encoder may write a size wrong. */
const unsoundBytesMin = 2 ** 31

function fileBytes({ cid, size, unixfs }: InProgressImportResult): bigint {
  return cid.code === raw.code ? size : (unixfs?.fileSize() ?? 0n)
}

/** A layout whose nodes above 2 GiB are encoded here, as the library would if it could. */
export function withLargeNodes(layout: FileLayout, format: Format, store: WritableStorage): FileLayout {
  return async (source, reduce) =>
    await layout(source, async (children) => {
      const total = children.reduce((sum, child) => sum + fileBytes(child), 0n)
      if (total >= unsoundBytesMin) return await putNode(children, format, store)
      // The library keeps the block of each inner node until the file ends, and needs none.
      const { cid, size, unixfs } = await reduce(children)
      return { cid, size, ...(unixfs === undefined ? {} : { unixfs }) }
    })
}

async function putNode(
  children: readonly InProgressImportResult[],
  format: Format,
  store: WritableStorage
): Promise<InProgressImportResult> {
  const blockSizes = children.map(fileBytes)
  const unixfs = new UnixFS({ type: 'file', blockSizes })
  const links = children.map(({ cid, size }) => ({ Name: '', Tsize: Number(size), Hash: cid }))
  const block = dagPb.encode({ Data: encodeData({ type: 'FILE', blockSizes, fileSize: unixfs.fileSize() }), Links: links })
  const cid = cidOf(format.cidVersion, dagPb.code, block)
  await store.put(cid, block)
  return { cid, unixfs, size: children.reduce((sum, { size }) => sum + size, BigInt(block.byteLength)) }
}

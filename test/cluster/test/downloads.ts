/** What tests of downloads from several providers share. */
import { onTestFinished } from 'vitest'
import { type AddedFile, Cluster, type Fetched, type FileSpec, type PeerProcess, type StatReport } from '../src/index.ts'

/** Of the file's bytes, so many may come twice. */
export const duplicateShareMax = 0.005

/** A cluster that ends with the test. */
export function cluster(): Cluster {
  const made = new Cluster()
  onTestFinished(async () => await made.stop())
  return made
}

export interface Download extends Fetched {
  readonly stat: StatReport
}

/** Lets a fresh peer fetch the file from those at some addresses. */
export async function download(peers: Cluster, root: string, addresses: readonly string[]): Promise<Download> {
  const downloader = await peers.peer({ announceNothing: true })
  for (const address of addresses) await downloader.connect(address)
  const fetched = await downloader.cat(root)
  const stat = await downloader.stat()
  await downloader.stop()
  return { ...fetched, stat }
}

/** Gives the file to each of them. */
export async function addToAll(providers: readonly PeerProcess[], file: FileSpec): Promise<AddedFile> {
  let added: AddedFile = { root: '', sha256: '', blocks: 0 }
  for (const provider of providers) added = await provider.add(file)
  return added
}

/** Addresses of links to the providers, 5 ms long and of so many bytes a second each from them on. */
export async function linksTo(peers: Cluster, providers: readonly PeerProcess[], rates: readonly number[]): Promise<string[]> {
  const relay = await peers.relay()
  const links = await Promise.all(
    providers.map(
      async ({ address: target }, index) => await relay.open({ target, fromTarget: { bytesPerS: rates[index] ?? 0, delayMs: 5 } })
    )
  )
  return links.map(({ address }) => address)
}

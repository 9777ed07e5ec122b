import { setTimeout as sleep } from 'node:timers/promises'
import { startKubo, type KuboNode } from '@shardswap-test/interop/kubo'
import { assertWhole, sampleOf, settleMs, withChildren, type Contender, type Sample, type SetUp } from './contenders.ts'
import { openLinks } from './links.ts'
import { fileContent, type Fetched, type FileWork } from './work.ts'

/** Told the direct address, a downloader would dial past its link. */
export const kuboInit = { announceNothing: true } as const

/** Adds a work's file; gives its root. */
export async function addToKubo(node: KuboNode, work: FileWork): Promise<string> {
  const options = ['-Q', '--pin=false', '--cid-version=1', '--raw-leaves', `--chunker=size-${work.leafBytes}`]
  return (await node.run(['add', ...options], fileContent(work.bytes))).toString('utf8').trim()
}

async function timeKubo(sources: readonly KuboNode[], args: readonly string[], work: FileWork, plan: SetUp['links']): Promise<Sample> {
  return await withChildren(async (keep) => {
    const downloader = await keep(startKubo(kuboInit))
    const addresses = await Promise.all(sources.map(async (source) => (await source.addresses())[0] ?? ''))
    const links = plan === undefined ? undefined : await keep(openLinks(plan, addresses))
    for (const address of links?.addresses ?? addresses) await downloader.connect(address)
    await sleep(settleMs)
    const fetch = async (): Promise<Fetched> => {
      const startMs = performance.now()
      let bytes = 0
      for await (const part of downloader.stream(args)) bytes += part.byteLength
      return { bytes, seconds: (performance.now() - startMs) / 1000 }
    }
    const fetched = await (links?.during(work.bytes, sources, fetch) ?? fetch())
    if (args[0] === 'cat') assertWhole(work, fetched)
    return await sampleOf(work, { ...fetched, bytes: work.bytes }, links)
  })
}

/** As `timeKubo`; undefined where it takes longer than `secondsMax`. */
async function timeKuboWithin(
  sources: readonly KuboNode[],
  args: readonly string[],
  work: FileWork,
  plan: SetUp['links'],
  secondsMax: number
): Promise<Sample | undefined> {
  const limit = Math.ceil(secondsMax)
  const startMs = performance.now()
  try {
    return await timeKubo(sources, [...args, `--timeout=${limit}s`], work, plan)
  } catch (error) {
    if (performance.now() - startMs < limit * 1000) throw error
    return undefined
  }
}

/** Kubo at all ends. The better of `cat` and `pin add` counts, each at a downloader that has nothing yet. */
export const kuboContender: Contender = async ({ work, providers, links }) =>
  await withChildren(async (keep) => {
    if (work.kind !== 'file') throw new Error('Kubo is measured with files only')
    const sources = await Promise.all(Array.from({ length: providers }, async () => await keep(startKubo(kuboInit))))
    const roots: string[] = []
    for (const source of sources) roots.push(await addToKubo(source, work))
    const root = roots[0] ?? ''
    const cat = await timeKubo(sources, ['cat', root], work, links)
    // Of small blocks `pin add` fetches but dozens a second: once it is slower than `cat`, it need not end.
    const pin = await timeKuboWithin(sources, ['pin', 'add', '--progress=false', root], work, links, cat['seconds'] ?? 0)
    return pin !== undefined && (pin['seconds'] ?? 0) < (cat['seconds'] ?? 0) ? pin : cat
  })

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kuboAvailable, kuboBuildMs } from '../src/build-kubo.ts'
import { digestOfNames, filesOf, namesOf, sha256Of, type DirectorySpec } from '../src/content.ts'
import { startKuboPair, type KuboPair } from '../src/kubo-pair.ts'

const spec: DirectorySpec = { names: 'odd', count: 10_000 }
const readMs = 120_000

interface PbNode {
  readonly Links: readonly { readonly Hash: { readonly '/': string }; readonly Name: string }[]
}

describe.runIf(kuboAvailable(import.meta.filename))('[F53] a directory of 10,000 names that Kubo sharded', () => {
  let pair: KuboPair
  let root: string
  beforeAll(async () => {
    pair = await startKuboPair()
    root = await pair.kubo.addDirectory(spec)
  }, kuboBuildMs)
  afterAll(async () => {
    await pair.stop()
  })

  test('[F53] Kubo serves, ours fetches: every name resolves, before the directory was ever listed', { timeout: readMs }, async () => {
    const reading = await pair.ours.readNames(root, namesOf(spec))
    expect(reading.sha256).toBe(sha256Of([...filesOf(spec)].map(({ content }) => content)))
  })

  test('[F53] Kubo serves, ours fetches: the list has every name', { timeout: readMs }, async () => {
    expect(await pair.ours.listNames(root)).toMatchObject({ names: spec.count, sha256: digestOfNames(namesOf(spec)) })
  })

  test('[F53] a name that is not there is not found, at the root and in an inner shard', async () => {
    const { Links: links } = JSON.parse((await pair.kubo.run(['dag', 'get', root])).toString('utf8')) as PbNode
    // A slot's prefix alone, two characters, leads to an inner shard.
    const shard = links.find(({ Name: name }) => name.length === 2)?.Hash['/']
    expect(shard).toBeDefined()
    await expect(pair.ours.readFile(`${root}/no such name`)).rejects.toMatchObject({ name: 'NotFoundError' })
    await expect(pair.ours.readFile(`${shard}/no such name`)).rejects.toMatchObject({ name: 'NotFoundError' })
  })
})

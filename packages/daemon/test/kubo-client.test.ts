/** Kubo's own client, from npm, against our daemon. */
import { createReadStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { extract } from 'tar-stream'
import { Readable } from 'node:stream'
import { create, globSource } from 'kubo-rpc-client'
import { CID } from 'multiformats/cid'
import { expect, test } from 'vitest'
import { bytesOf, collect, newDaemon, someBytes, urlOf } from './setup.ts'

const fixtures = fileURLToPath(new URL('../../../test/fixtures/', import.meta.url))

async function newClient(): Promise<ReturnType<typeof create>> {
  return create({ url: urlOf(await newDaemon()) })
}

test('id and version', async () => {
  const client = await newClient()
  const id = await client.id()
  expect(id.id.toString()).toMatch(/^12D3/)
  expect(id.agentVersion).toMatch(/^shardswap\//)
  expect(id.protocols).toContain('/ipfs/bitswap/1.2.0')
  expect(id.addresses.length).toBeGreaterThan(0)
  expect((await client.version()).version).toMatch(/^\d+\.\d+\.\d+$/)
})

test('add, cat with offset and length, ls, get', async () => {
  const client = await newClient()
  const content = someBytes(700_000)
  const progress: number[] = []
  const added = await client.add(
    { path: 'dir/data.bin', content },
    { cidVersion: 1, wrapWithDirectory: true, progress: (bytes) => progress.push(bytes) }
  )
  expect(added.path).toBe('')
  expect(progress.at(-1)).toBe(content.byteLength)
  const path = `${added.cid.toString()}/dir/data.bin`
  expect(await bytesOf(client.cat(path))).toEqual(Buffer.from(content))
  expect(await bytesOf(client.cat(path, { offset: 600_000, length: 10 }))).toEqual(Buffer.from(content.subarray(600_000, 600_010)))
  const entries = await collect(client.ls(`/ipfs/${added.cid.toString()}/dir`))
  expect(entries).toMatchObject([{ name: 'data.bin', type: 'file', size: content.byteLength }])
  const archive = extract()
  Readable.from(client.get(`${added.cid.toString()}/dir`)).pipe(archive)
  const names: string[] = []
  for await (const entry of archive) {
    names.push(`${entry.header.type} ${entry.header.name}`)
    entry.resume()
  }
  expect(names).toEqual(['directory dir', 'file dir/data.bin'])
})

test('addAll keeps directories, mode and time', async () => {
  const client = await newClient()
  const source: { path: string; content?: Uint8Array; mode?: number; mtime?: { secs: number; nsecs: number } }[] = [
    { path: 'd/empty' },
    { path: 'd/ä%2F?.txt', content: Buffer.from('x'), mode: 0o640, mtime: { secs: 981_173_106, nsecs: 789_000_000 } }
  ]
  const added = await collect(client.addAll(source as never, { cidVersion: 1 }))
  expect(added.map((entry) => entry.path)).toEqual(['d/ä%2F?.txt', 'd/empty', 'd'])
  const root = added.at(-1)?.cid.toString() ?? ''
  const [, file] = await collect(client.ls(root))
  expect(file).toMatchObject({ name: 'ä%2F?.txt', type: 'file', size: 1 })
  // As with Kubo, what is sent along counts only if it is asked for: without, the file is a lone raw block.
  expect(added[0]?.cid.code).toBe(0x55)
  const kept = await collect(client.addAll(source as never, { cidVersion: 1, preserveMode: true, preserveMtime: true } as never))
  expect(kept[0]?.cid.code).toBe(0x70)
})

test('a folder by the globSource of the client, whose paths begin with a slash', async () => {
  const client = await newClient()
  const source = globSource(fixtures, '{README.md,file-v0.car}')
  const names = new Set<string | undefined>()
  const added = await collect(client.addAll(source as never, { wrapWithDirectory: true, progress: (_, name) => names.add(name) }))
  expect(added.map((entry) => entry.path).toSorted()).toEqual(['', 'README.md', 'file-v0.car'])
  expect(names).toEqual(new Set(['README.md', 'file-v0.car']))
  await expect(collect(client.addAll([{ path: '/../x', content: 'x' }]))).rejects.toThrow('not a path of plain names')
})

test('blocks', async () => {
  const client = await newClient()
  const cid = await client.block.put(Buffer.from('hello'), { format: 'raw', mhtype: 'sha2-256' })
  expect(cid.toString()).toBe('bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq')
  expect(Buffer.from(await client.block.get(cid)).toString()).toBe('hello')
  expect(await client.block.stat(cid)).toEqual({ cid, size: 5 })
  expect(await collect(client.block.rm(cid))).toEqual([{ cid }])
  const [again] = await collect(client.block.rm(cid))
  expect(again?.error?.message).toContain('not in the repo')
})

test('archives', async () => {
  const client = await newClient()
  const root = CID.parse('QmWLbxt3tREFfYKg7JtcFJd6gd8Q7Kk2XHMB6ZWJzG2Pwk')
  const imported = await collect(client.dag.import([createReadStream(`${fixtures}file-v0.car`)]))
  expect(imported.map(({ root }) => root.cid)).toEqual([root])
  const exported = await bytesOf(client.dag.export(root))
  expect(exported).toEqual(await bytesOf(createReadStream(`${fixtures}file-v0.car`)))
  await expect(collect(client.dag.import([createReadStream(`${fixtures}bad-flipped-byte.car`)]))).rejects.toThrow(/does not match its CID/)
})

test('swarm and repo', async () => {
  const one = await newDaemon()
  const two = await newDaemon()
  const client = create({ url: urlOf(one) })
  const address = two.addresses[0] ?? ''
  const lines = (await client.swarm.connect(address as never)) as unknown as string[]
  expect(lines[0]).toMatch(/^connect 12D3\S+ success$/)
  const peers = await client.swarm.peers()
  expect(peers.map((peer) => peer.peer.toString())).toEqual([address.split('/').at(-1)])
  const cid = await create({ url: urlOf(two) }).block.put(someBytes(1000))
  expect(Buffer.from(await client.block.get(cid))).toEqual(Buffer.from(someBytes(1000)))
  expect((await client.repo.stat()).numObjects).toBe(1n)
})

test('errors have the messages that its callers look for', async () => {
  const client = await newClient()
  const missing = CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')
  await expect(client.block.stat(missing, { timeout: 50 })).rejects.toThrow(/timed out/)
  await expect(collect(client.cat('frob'))).rejects.toThrow(/not a CID/)
  await expect(collect(client.cat(missing, { offline: true } as never))).rejects.toThrow(/not found/)
})

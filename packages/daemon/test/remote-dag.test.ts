/** What a daemon answers its own client is what its node answers in the process. */
import { expect, test } from 'vitest'
import { connectDaemon } from '../src/index.ts'
import { bytesOf, collect, newDaemon, someBytes } from './setup.ts'

const text = (words: string): Uint8Array => new TextEncoder().encode(words)

test('nodes, links, sizes, connections and sums are the same from near and from afar', async () => {
  const daemon = await newDaemon()
  const other = await newDaemon()
  const remote = await connectDaemon(daemon.api)
  const { node } = daemon
  const [file] = await collect(node.add([{ path: 'f', content: someBytes(600_000) }]))
  const root = await remote.dag.put(text(`{"a":[{"/":"${file?.cid.toString()}"}],"b":1.5}`), { hash: 'sha2-512' })
  const path = root.toString()
  expect(Buffer.from(await remote.dag.get(`${path}/b`)).toString()).toBe('1.5')
  for (const outputCodec of ['dag-json', 'dag-cbor']) {
    expect(Buffer.from(await remote.dag.get(path, { outputCodec }))).toEqual(Buffer.from(await node.dag.get(path, { outputCodec })))
  }
  expect(await remote.dag.resolve(`${path}/b`)).toEqual(await node.dag.resolve(`${path}/b`))
  const counted: number[] = []
  const sizes = await remote.dag.stat([path, `${path}/a/0`], { onProgress: ({ bytes }) => counted.push(bytes) })
  expect(sizes).toEqual(await node.dag.stat([path, `${path}/a/0`]))
  expect(counted.every((bytes) => bytes <= sizes.bytes)).toBe(true)
  for (const options of [{}, { recursive: true }, { recursive: true, unique: true, maxDepth: 1, format: '<dst> <src>' }]) {
    expect(await collect(remote.dag.refs([path], options))).toEqual(await collect(node.dag.refs([path], options)))
  }
  const names = async (of: typeof node | typeof remote): Promise<string[]> => (await collect(of.dag.localRefs())).map(String).toSorted()
  expect(await names(remote)).toEqual(await names(node))
  const id = await remote.swarmConnect(other.addresses[0] ?? '')
  expect(await remote.swarm.addresses()).toEqual(await node.swarm.addresses())
  expect(await remote.swarm.ownAddresses()).toEqual(await node.swarm.ownAddresses())
  expect(await remote.swarm.identity(id)).toEqual(await node.swarm.identity(id))
  expect(await remote.bitswap.stat()).toEqual(await node.bitswap.stat())
  expect(await remote.bitswap.ledger(id)).toEqual(await node.bitswap.ledger(id))
  expect(await remote.bitswap.wantlist(id)).toEqual(await node.bitswap.wantlist(id))
  const pings = await collect(node.swarm.ping(id, { count: 3, intervalMs: 0 }))
  expect(pings.map(({ ok }) => ok)).toEqual([true, true, true, true, true])
  const [first, answer] = await collect(remote.swarm.ping(id, { count: 1 }))
  expect([first, answer?.ok]).toEqual([{ ok: true, text: `PING ${id}.` }, true])
  expect(await remote.swarm.disconnect(`/p2p/${id}`)).toEqual({ peer: id })
  expect(await node.swarm.disconnect(`/p2p/${id}`)).toEqual({ peer: id, failure: 'not connected' })
  await expect(remote.swarm.identity(id)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
})

test('names alone are listed without fetching what they name', async () => {
  const daemon = await newDaemon()
  const remote = await connectDaemon(daemon.api)
  const { node } = daemon
  const added = await collect(
    node.add(
      [
        { path: 'd/a', content: text('a') },
        { path: 'd/sub/b', content: text('b') }
      ],
      { pin: false }
    )
  )
  const [file, , , root] = added
  await collect(node.blockRm([file?.cid ?? root?.cid].flatMap((cid) => (cid === undefined ? [] : [cid]))))
  const path = root?.cid.toString() ?? ''
  const shallow = await collect(remote.ls(path, { namesOnly: true, offline: true }))
  expect(shallow.map(({ name, type }) => [name, type])).toEqual([
    ['a', 'other'],
    ['sub', 'other']
  ])
  await expect(collect(remote.ls(path, { offline: true }))).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
})

test('modes and times come through the list, in Go numbers on the way', async () => {
  const daemon = await newDaemon()
  const remote = await connectDaemon(daemon.api)
  const added = await collect(
    daemon.node.add([
      { path: 'd/a', content: text('a'), mode: 0o4755, mtime: { secs: 1_234_567n, nsecs: 5 } },
      { path: 'd/old', content: text('b'), mode: 0o600, mtime: { secs: -62_135_596_801n } },
      { path: 'd/plain', content: text('c') },
      { path: 'd/sub', mode: 0o1777, mtime: { secs: 981_173_106n } }
    ])
  )
  const path = added.at(-1)?.cid.toString() ?? ''
  expect(await collect(remote.ls(path))).toEqual(await collect(daemon.node.ls(path)))
  const [, , host, , port] = daemon.api.split('/')
  const response = await fetch(`http://${host}:${port}/api/v0/ls?arg=${path}`, { method: 'POST' })
  const list = (await response.json()) as { Objects: { Links: { Mode: number; ModTime: string }[] }[] }
  expect(list.Objects[0]?.Links.map(({ Mode, ModTime }) => [Mode, ModTime])).toEqual([
    [2 ** 23 + 0o755, '1970-01-15T06:56:07.000000005Z'],
    [0o600, '0000-12-31T23:59:59Z'],
    [0, '0001-01-01T00:00:00Z'],
    [2 ** 31 + 2 ** 20 + 0o777, '2001-02-03T04:05:06Z']
  ])
  expect((await bytesOf(remote.cat(`${path}/a`))).toString()).toBe('a')
})

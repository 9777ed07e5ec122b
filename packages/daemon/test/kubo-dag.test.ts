/** Kubo's own client, from npm, against one of our daemons: nodes, links, connections, and what else it has. */
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { multiaddr } from '@multiformats/multiaddr'
import { peerIdFromString } from '@libp2p/peer-id'
import { create, type KuboRPCClient } from 'kubo-rpc-client'
import { CID } from 'multiformats/cid'
import { extract } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { memoryRepo } from '@shardswap/repo'
import { type Daemon, startDaemon } from '../src/index.ts'
import { bytesOf, collect, someBytes, urlOf } from './setup.ts'

let daemon: Daemon
let other: Daemon
let client: KuboRPCClient

async function start(): Promise<Daemon> {
  return await startDaemon({ repo: await memoryRepo(), listen: ['/ip4/127.0.0.1/tcp/0'], api: '/ip4/127.0.0.1/tcp/0' })
}

beforeAll(async () => {
  ;[daemon, other] = await Promise.all([start(), start()])
  client = create({ url: urlOf(daemon) })
})

afterAll(async () => {
  await daemon.stop()
  await other.stop()
})

function idOf(of: Daemon): string {
  return of.addresses[0]?.split('/').at(-1) ?? ''
}

test('nodes of dag-cbor, dag-json, dag-pb and raw go in and out, with the CIDs of Kubo', async () => {
  const leaf = await client.dag.put({ Data: Buffer.from('x'), Links: [] }, { storeCodec: 'dag-pb' })
  const node = { a: { b: [1, leaf] }, bytes: Uint8Array.of(1, 2), none: null }
  const cbor = await client.dag.put(node)
  const json = await client.dag.put(node, { storeCodec: 'dag-json', hashAlg: 'sha2-512' })
  expect([leaf.code, cbor.code, json.code, json.multihash.code]).toEqual([0x70, 0x71, 0x0129, 0x13])
  expect(await client.dag.get(cbor)).toEqual({ value: node, remainderPath: '' })
  expect(await client.dag.get(json, { path: '/a/b/1/Data' })).toEqual({ value: new Uint8Array(Buffer.from('x')), remainderPath: '' })
  expect(await client.dag.resolve(cbor, { path: 'a/b/0' })).toEqual({ cid: cbor, remainderPath: '/a/b/0' })
  expect(await client.dag.resolve(`/ipfs/${cbor.toString()}/a/b/1`)).toEqual({ cid: leaf, remainderPath: '' })
  expect(await client.resolve(`/ipfs/${cbor.toString()}/a/b/1`)).toBe(`/ipfs/${leaf.toString()}`)
  const converted = await client.dag.put(Buffer.from('{"z":1.0,"a":2}'), { inputCodec: 'json', storeCodec: 'dag-cbor' })
  const text = await bytesOf(post(`dag/get?arg=${converted.toString()}`))
  expect(text.toString()).toBe('{"a":2,"z":1}')
  await expect(client.dag.put(Buffer.from('{'), { inputCodec: 'dag-json' })).rejects.toThrow(/codec dag-json/)
  await expect(client.dag.put(Buffer.from('{}'), { inputCodec: 'frob' })).rejects.toThrow(/unknown codec "frob"/)
  await expect(client.dag.resolve(`${cbor.toString()}/nope`)).rejects.toThrow(/no link named "nope"/)
})

async function* post(call: string): AsyncGenerator<Uint8Array> {
  const response = await fetch(`${urlOf(daemon)}/${call}`, { method: 'POST' })
  if (response.body !== null) yield* response.body as unknown as AsyncIterable<Uint8Array>
}

test('a DAG in several codecs is archived, listed by its links and measured', async () => {
  const content = someBytes(600_000)
  const added = await collect(
    client.addAll(
      [
        { path: 'd/a.txt', content: 'abc' },
        { path: 'd/sub/z.bin', content }
      ],
      { cidVersion: 1 }
    )
  )
  const file = added.find(({ path }) => path === 'd/sub/z.bin')?.cid as CID
  const root = added.at(-1)?.cid as CID
  const links = await collect(client.refs(root, { recursive: true, unique: true }))
  expect(links.map(({ err }) => err)).toEqual(links.map(() => ''))
  // a.txt, sub, z.bin and its three leaves.
  expect(links).toHaveLength(6)
  expect(links[2]?.ref).toBe(file.toString())
  const [edge] = await collect(client.refs(root.toString(), { edges: true }))
  expect(edge?.ref).toBe(`${root.toString()} -> ${links[0]?.ref}`)
  const named = await collect(client.refs([root, file], { format: '<linkname>', maxDepth: 1 }))
  expect(named.map(({ ref }) => ref)).toEqual(['a.txt', 'sub', '', '', ''])
  const local = await collect(client.refs.local())
  expect(local.map(({ ref }) => CID.parse(ref).toV1().code)).toEqual(local.map(() => 0x55))
  expect(local.length).toBeGreaterThanOrEqual(7)
  const stat = JSON.parse((await bytesOf(post(`dag/stat?arg=${root.toString()}&progress=false`))).toString()) as object
  expect(stat).toMatchObject({ UniqueBlocks: 7, Ratio: 1, DagStats: [{ Cid: root.toString(), NumBlocks: 7 }] })
  const both = (await bytesOf(post(`dag/stat?arg=${root.toString()}&arg=${file.toString()}`))).toString().trimEnd().split('\n')
  expect(JSON.parse(both.at(-1) ?? '')).toMatchObject({ UniqueBlocks: 7, DagStats: [{}, { NumBlocks: 4 }] })
  const archive = await bytesOf(client.dag.export(root))
  const target = create({ url: urlOf(other) })
  const [imported] = await collect(target.dag.import([archive] as never))
  expect(imported?.root.cid).toEqual(root)
  expect(await bytesOf(target.cat(file))).toEqual(Buffer.from(content))
})

async function namesIn(archive: Readable): Promise<string[]> {
  const all: string[] = []
  for await (const entry of archive.pipe(extract())) {
    all.push(entry.header.name)
    entry.resume()
  }
  return all
}

async function* stream(): AsyncGenerator<Uint8Array> {
  for (let part = 0; part < 3; part++) yield new Uint8Array(200_000)
}

test('streams are added with every option that changes the CID, as Kubo does it', async () => {
  const cids: string[] = []
  for (const options of [
    { cidVersion: 1 },
    { rawLeaves: true, chunker: 'size-4096' },
    { trickle: true, onlyHash: true },
    { hashAlg: 'sha2-512', pin: false }
  ] as const) {
    cids.push((await client.add(stream(), options)).cid.toString())
  }
  expect(cids).toEqual([
    'bafybeib7pcuusxw7atqqc4apxvkezssdjbqkkhymjpo5x7bsj5sytn2ph4',
    'QmTWH2FJ6BfDYCBfFtwwXGzcaJx6yv4gqKBKP7mFS76GKw',
    'QmNheHL5sfeUbxdFyxqfnjbJKWDckE96XrRepK9SnjUGNg',
    'bafybgqhoclbbmmm3rrj5y2z6ohzs5o54ybaleinc54mkkamvp2hiwc44w6jcebeipsmxszkwtf32eaekdea4frkwvflk6gzp2qrretqhsknts'
  ])
  const [again] = await collect(
    client.addAll([{ path: 'a/b', content: Readable.from(stream()) }], { cidVersion: 1, wrapWithDirectory: false })
  )
  expect(again).toMatchObject({ path: 'a/b', cid: CID.parse(cids[0] ?? '') })
})

test('get gives an archive, one that is compressed, or a file that is', async () => {
  const content = someBytes(300_000)
  const root = (await client.add({ path: 'd/data.bin', content }, { wrapWithDirectory: true })).cid.toString()
  const there = [root, `${root}/d`, `${root}/d/data.bin`]
  expect(await namesIn(Readable.from(client.get(root, { archive: true })))).toEqual(there)
  const zipped = client.get(root, { archive: true, compress: true, compressionLevel: 9 })
  expect(await namesIn(Readable.from(zipped).pipe(createGunzip()))).toEqual(there)
  const file = Readable.from(client.get(`${root}/d/data.bin`, { compress: true })).pipe(createGunzip())
  expect(Buffer.concat((await file.toArray()) as Buffer[])).toEqual(Buffer.from(content))
  await expect(bytesOf(client.get(root, { compress: true }))).rejects.toThrow(/only an archive/)
})

test('connections, pings, identities, what was exchanged, and the end of it', async () => {
  const address = other.addresses[0] ?? ''
  const id = idOf(other)
  await client.swarm.connect(multiaddr(address))
  const known = await client.swarm.addrs()
  expect(known.map(({ id: peer }) => peer.toString())).toContain(id)
  const own = (await client.swarm.localAddrs()).map(String)
  expect(daemon.addresses).toEqual(own.map((addr) => `${addr}/p2p/${idOf(daemon)}`))
  expect(await client.id({ peerId: peerIdFromString(id) })).toMatchObject({ agentVersion: expect.any(String) as string })
  const block = someBytes(5_000, 9)
  const cid = await create({ url: urlOf(other) }).block.put(block)
  expect(Buffer.from(await client.block.get(cid))).toEqual(Buffer.from(block))
  const stat = await client.bitswap.stat()
  expect(stat).toMatchObject({ blocksReceived: 1n, dataReceived: 5_000n, dupBlksReceived: 0n, wantlist: [] })
  expect(stat.peers.map(String)).toEqual([id])
  const ledger = JSON.parse((await bytesOf(post(`bitswap/ledger?arg=${id}`))).toString()) as object
  expect(ledger).toEqual({ Peer: id, Value: 0, Sent: 0, Recv: 5_000, Exchanged: 1 })
  const pings = await collect(client.ping(id, { count: 1 }))
  expect(pings.map(({ success, text }) => [success, text.split(' ')[0]])).toEqual([
    [true, 'PING'],
    [true, ''],
    [true, 'Average']
  ])
  expect(pings[1]?.time).toBeGreaterThan(0)
  await expect(collect(client.ping(idOf(daemon)))).rejects.toThrow(/ping self/)
  const lines = (await client.swarm.disconnect(multiaddr(`/p2p/${id}`))) as unknown
  expect(lines).toEqual([`disconnect ${id} success`])
  expect(await client.swarm.peers()).toEqual([])
  expect(await client.swarm.disconnect(multiaddr(address))).toEqual([`disconnect ${id} failure: conn not found`])
})

test('a wantlist shows what is waited for, here and at the peer that is asked, and nothing once the client has gone', async () => {
  const id = idOf(other)
  const missing = CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')
  await client.swarm.connect(multiaddr(other.addresses[0] ?? ''))
  const remote = create({ url: urlOf(other) })
  const given = new AbortController()
  const calls = [
    bytesOf(client.cat(missing, { signal: given.signal, timeout: '1h' })),
    client.block.get(missing, { signal: given.signal, timeout: '1h' }),
    collect(client.refs(missing, { signal: given.signal, recursive: true, timeout: '1h' }))
  ].map(
    async (call) =>
      await (call as Promise<unknown>).then(
        () => 'answered',
        (error: Error) => error.name
      )
  )
  await expect.poll(async () => (await client.bitswap.wantlist()).map(String)).toEqual([missing.toString()])
  await expect
    .poll(async () => (await remote.bitswap.wantlistForPeer(peerIdFromString(idOf(daemon)))).map(String))
    .toEqual([missing.toString()])
  expect((await client.bitswap.stat()).wantlist).toEqual([missing])
  given.abort()
  expect(await Promise.all(calls)).toEqual(calls.map(() => 'AbortError'))
  await expect.poll(async () => await client.bitswap.wantlist()).toEqual([])
  await expect.poll(async () => await remote.bitswap.wantlistForPeer(peerIdFromString(idOf(daemon)))).toEqual([])
  expect((await daemon.node.peer()).gauges()).toMatchObject({ sessions: 0, wants: 0, blocksAwaited: 0 })
  await client.swarm.disconnect(multiaddr(`/p2p/${id}`))
})

test('commands are listed; what Kubo has and this node has not is 404 with a message that says so', async () => {
  const commands = JSON.parse((await bytesOf(post('commands'))).toString()) as { Name: string; Subcommands: { Name: string }[] }
  expect(commands.Name).toBe('shardswap')
  expect(commands.Subcommands.map(({ Name }) => Name)).toEqual(expect.arrayContaining(['add', 'dag', 'refs', 'swarm']))
  await expect(collect(client.files.ls('/'))).rejects.toThrow(
    /"files\/ls" is a command of Kubo that this node does not have: there is no mutable/
  )
  await expect(client.key.list()).rejects.toThrow(/is a command of Kubo that this node does not have/)
  for (const [call, words] of [
    ['frob', 'no call at /api/v0/frob'],
    ['dag', '"dag" alone is no call: there are dag/'],
    ['pubsub/ls', '"pubsub/ls" is a command of Kubo'],
    ['files', '"files" is a command of Kubo that this node does not have: there is no mutable']
  ] as const) {
    const response = await fetch(`${urlOf(daemon)}/${call}`, { method: 'POST' })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      Message: expect.stringContaining(words) as string,
      Type: 'error',
      ErrorCode: 'ERR_UNKNOWN_CALL'
    })
  }
  expect(await text(Readable.fromWeb((await fetch(`${urlOf(daemon)}/dag`, { method: 'POST' })).body as never))).toContain('dag/put')
})

test('pins, their names, the collection of garbage, the config and the sums', async () => {
  const kept = await client.add(someBytes(2_000, 3), { cidVersion: 1, pin: false })
  const loose = await client.add(someBytes(2_000, 4), { cidVersion: 1, pin: false })
  expect(await client.pin.add(kept.cid, { name: 'kept' })).toEqual(kept.cid)
  const pins = await collect(client.pin.ls({ paths: kept.cid }))
  expect(pins.map(({ cid, type }) => [String(cid), type])).toEqual([[kept.cid.toString(), 'recursive']])
  expect((await collect(client.pin.ls({ type: 'recursive', names: true }))).length).toBeGreaterThanOrEqual(1)
  const removed = (await collect(client.repo.gc())).map(({ cid }) => cid?.toV1().toString())
  expect(removed).toContain(loose.cid.toString())
  expect(removed).not.toContain(kept.cid.toString())
  await expect(collect(client.block.rm(kept.cid))).resolves.toMatchObject([
    { error: { message: expect.stringContaining('pinned') as string } }
  ])
  expect(await client.pin.rm(kept.cid)).toEqual(kept.cid)
  await expect(client.pin.rm(kept.cid)).rejects.toThrow(/not pinned/)
  expect(await client.config.get('serve.cap')).toBe(1024)
  expect(await client.config.getAll()).toMatchObject({ serve: { cap: 1024 } })
  expect(await client.repo.version()).toBe(String((await daemon.node.version()).repoVersion))
  expect((await client.stats.repo()).numObjects).toBeGreaterThan(0n)
  const [bandwidth] = await collect(client.stats.bw())
  expect(bandwidth).toMatchObject({ totalIn: expect.any(BigInt) as bigint, rateOut: expect.any(Number) as number })
  expect(await collect(client.routing.findProvs(kept.cid))).toEqual([])
  expect(await client.version()).toMatchObject({ version: expect.any(String) as string })
})

const document = readFileSync(new URL('../../../docs/rpc.md', import.meta.url), 'utf8')

interface Command {
  readonly Name: string
  readonly Subcommands: readonly Command[]
  readonly Options: readonly { readonly Names: readonly string[] }[]
}

/** Names between back-ticks. */
function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

function optionsIn(command: Command, path: readonly string[] = []): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const below of command.Subcommands) {
    const name = [...path, below.Name]
    found.set(
      name.join('/'),
      below.Options.map(({ Names }) => Names[0] ?? '')
    )
    for (const [key, options] of optionsIn(below, name)) found.set(key, options)
  }
  return found
}

test('the document has each call that is served with its options, and no other call', async () => {
  const url = urlOf(daemon)
  const { Message } = (await (await fetch(`${url}/frob`, { method: 'POST' })).json()) as { Message: string }
  const served = Message.replace(/^.*serves /, '').split(', ')
  const rows = document.split('\n').flatMap((line) => {
    const [, calls = '', words = ''] = /^\| (`[a-z].*?) \| (.*) \|$/.exec(line) ?? []
    return quoted(calls).map((call): [string, string[]] => [call, quoted(words)])
  })
  const own = /Calls of our own[^\n]*/.exec(document)?.[0] ?? ''
  const documented = [
    ...rows.map(([call]) => call),
    ...quoted(own).filter((name) => name.startsWith('shardswap/') && name !== 'shardswap/')
  ]
  expect(documented.toSorted()).toEqual(served.toSorted())
  const commands = (await (await fetch(`${url}/commands`, { method: 'POST' })).json()) as Command
  const options = optionsIn(commands)
  const untold = rows.flatMap(([call, words]) =>
    (options.get(call) ?? [])
      .filter((name) => !['offline', 'patient'].includes(name) && !words.includes(name))
      .map((name) => `${call} ${name}`)
  )
  expect(untold).toEqual([])
})

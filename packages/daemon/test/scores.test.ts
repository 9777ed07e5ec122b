import { peerKey } from '@shardswap/interface'
import type { PeerScore } from '@shardswap/peer'
import { memoryRepo, type Repo } from '@shardswap/repo'
import { expect, onTestFinished, test } from 'vitest'
import { connectDaemon, describeError, scoresOf, scoresShape } from '../src/index.ts'
import { collect, newDaemon, someBytes, urlOf } from './setup.ts'

test('scores, and how we stand elsewhere, are the same through the RPC as here', async () => {
  const [provider, client] = [await newDaemon(), await newDaemon()]
  const root = (await collect(provider.node.add([{ path: 'a', content: someBytes(500_000) }]))).at(-1)?.cid.toString() ?? ''
  const address = provider.addresses[0] ?? ''
  await client.node.swarmConnect(address)
  await collect(client.node.cat(root))
  const remote = await connectDaemon(client.api)
  const [there, here] = [await remote.scores(), await client.node.scores()]
  expect(there.peers.map(({ peer, counts }) => ({ peer, counts }))).toEqual(here.peers.map(({ peer, counts }) => ({ peer, counts })))
  expect(there).toMatchObject({ known: 1, peers: [{ isConnected: true, success24h: 1 }] })
  expect(there.calibration?.forecasts).toBeGreaterThan(0)

  const clientId = (await client.node.id()).id
  const own = await (await connectDaemon(provider.api)).ownScoreAt(clientId)
  expect(own.by).toBe(clientId)
  expect(own.score?.counts).toEqual(here.peers[0]?.counts)
  expect(own.receipts.length).toBe(own.receiptsInAll)
  // By its address too.
  expect((await remote.ownScoreAt(address)).by).toBe((await provider.node.id()).id)
})

test("[P21] the repo's config says how scores become shares", async () => {
  const repo = await memoryRepo()
  const client = await newDaemon({ ...repo, config: { ...repo.config, reliability: { share: 'equal', backups: false } } })
  const reads = Promise.withResolvers<void>()
  const [good, stuck] = [await newDaemon(), await newDaemon(await stuckRepo(reads.promise))]
  // Before the daemons are stopped.
  onTestFinished(() => reads.resolve())
  const enough = new AbortController()
  const answers: Promise<unknown>[] = []
  for (const [at, { node, addresses }] of [good, stuck].entries()) {
    const root = (await collect(node.add([{ path: 'a', content: someBytes(200_000, at + 1) }]))).at(-1)?.cid.toString() ?? ''
    await client.node.swarmConnect(addresses[0] ?? '')
    answers.push(collect(client.node.cat(root, { signal: enough.signal })).catch(() => 'ended'))
  }
  await answers[0]
  const standing = async (): Promise<readonly PeerScore[]> => (await client.node.scores()).peers
  // On a busy machine the good one may be late too, once or twice.
  await expect.poll(async () => (await standing()).map(({ score }) => score > 40), { timeout: 20_000 }).toEqual([true, false])
  enough.abort()
  expect(await answers[1]).toBe('ended')
  const [best, worst] = await standing()
  expect(worst?.score).toBeLessThan(best?.score ?? 0)
  expect([best?.share, worst?.share]).toEqual([0.5, 0.5])
})

/** A repo that knows of its blocks, and does not come to read any before it is freed. */
async function stuckRepo(freed: Promise<void>): Promise<Repo> {
  const repo = await memoryRepo()
  const { blocks } = repo
  const stuck: Pick<Repo['blocks'], 'get' | 'has' | 'put' | 'size'> = {
    has: (cid, options) => blocks.has(cid, options),
    put: (cid, bytes, options) => blocks.put(cid, bytes, options),
    size: async (cid, options) => await blocks.size(cid, options),
    get: async function* (cid, options) {
      await freed
      yield* blocks.get(cid, options)
    }
  }
  return { ...repo, blocks: stuck as Repo['blocks'] }
}

test('what cannot be answered has a code, the same in both places', async () => {
  const daemon = await newDaemon()
  const remote = await connectDaemon(daemon.api)
  for (const node of [daemon.node, remote]) {
    const code = async (peer: string): Promise<string> => {
      const failed = await node.ownScoreAt(peer).catch((error: unknown) => error)
      return describeError(failed).code
    }
    expect(await code('nobody')).toBe('ERR_INVALID_PARAMETERS')
    expect(await code('12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU')).toBe('ERR_SCORE_UNAVAILABLE')
    expect(await code('/ip4/127.0.0.1/tcp/1/p2p/12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU')).toBe('ERR_CONNECT')
  }
  for (const query of ['', 'arg=a&arg=b', 'arg=a&receipts-from=-1', 'arg=a&receipts-from=x']) {
    const { status } = await fetch(`${urlOf(daemon)}/shardswap/peers/me-at?${query}`, { method: 'POST' })
    expect([query, status]).toEqual([query, 400])
  }
})

test('a score comes back from its JSON as it was', () => {
  const bare: PeerScore = {
    peer: peerKey('a'),
    isConnected: false,
    isVetted: false,
    score: 12.5,
    share: 0,
    shutOutMs: 7,
    returnLeftMs: 0,
    success24h: undefined,
    success30d: undefined,
    uptime24h: undefined,
    uptime30d: undefined,
    latencyP50Ms: undefined,
    latencyP95Ms: undefined,
    failChance: 0.5,
    inFlight: 3,
    counts: {
      attempted: 9,
      successful: 8,
      rewardable: 7,
      primaryTurns: 6,
      backupTurns: 3,
      timeouts: 1,
      silences: 0,
      resets: 0,
      brokenHaves: 0,
      late: 0,
      denied: 0,
      withdrawn: 0,
      refused: 0,
      duplicateBlocks: 0,
      duplicateBytes: 0,
      badBlocks: 4,
      hardFailures: 1
    }
  }
  const full = { ...bare, returnLeftMs: 9, success24h: 0, success30d: 0.5, uptime24h: 1, uptime30d: 0.1, latencyP50Ms: 1, latencyP95Ms: 2 }
  for (const score of [bare, full]) {
    const scores = { peers: [score], known: 5, calibration: undefined }
    expect(scoresOf(JSON.parse(JSON.stringify(scoresShape(scores))) as ReturnType<typeof scoresShape>)).toEqual(scores)
  }
  expect(scoresShape({ peers: [bare], known: 1, calibration: undefined }).Peers[0]).toMatchObject({ Backups: 3, Credits: 7 })
})

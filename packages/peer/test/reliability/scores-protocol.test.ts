import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, Libp2p, PrivateKey, Stream } from '@libp2p/interface'
import { expect, it, onTestFinished } from 'vitest'
import { createNode } from '../../src/libp2p-node.ts'
import { ScoresProtocol, scoresProtocol } from '../../src/reliability/scores-protocol.ts'
import { readStatement, signStatement, statementAbout } from '../../src/reliability/statement.ts'
import type { LineSource, OwnReceipt } from '../../src/reliability/types.ts'
import { aScore } from './lines.ts'
import { KeptLog } from './log.ts'

interface Node {
  readonly libp2p: Libp2p
  readonly privateKey: PrivateKey
}

async function node(): Promise<Node> {
  const privateKey = await generateKeyPair('Ed25519')
  const libp2p = await createNode({ privateKey })
  await libp2p.start()
  onTestFinished(async () => await libp2p.stop())
  return { libp2p, privateKey }
}

function receipts(count: number): OwnReceipt[] {
  return Array.from({ length: count }, (_, at) => ({
    multihash: `Qm${String(at).padStart(44, '0')}`,
    closedMs: 1_700_000_000_000 + at,
    isContinued: false,
    turns: [{ who: 'you', role: 'primary', outcome: 'success', rank: 1 }],
    credited: 0
  }))
}

/** Gives every peer a line of its own, and receipts in one period only. */
function lines(many = 0): LineSource {
  return {
    line: (peer, period) => ({
      score: aScore(peer),
      account: { period: period ?? 'now', attempted: 9, successful: 8, rewardable: 7, primaryTurns: 6, backupTurns: 3, rescued: 2 },
      receipts: Object.assign(period === undefined ? receipts(many) : [], { isCut: many > 4000 })
    })
  }
}

async function speaks(
  { libp2p, privateKey }: Node,
  source: LineSource = lines(),
  key: PrivateKey | undefined = privateKey
): Promise<ScoresProtocol> {
  const protocol = new ScoresProtocol({ libp2p, privateKey: key, log: new KeptLog().log, nowMs: () => performance.now(), lines: source })
  await protocol.start()
  onTestFinished(async () => await protocol.stop())
  return protocol
}

async function dial(from: Node, to: Node): Promise<Connection> {
  return await from.libp2p.dial(to.libp2p.getMultiaddrs())
}

it('[P14] a peer is told its own line, signed, and nobody else can be asked for', async () => {
  const [judge, judged, other] = [await node(), await node(), await node()]
  await speaks(judge)
  const asking = await speaks(judged)
  const asking2 = await speaks(other)
  await dial(judged, judge)
  await dial(other, judge)
  const own = await asking.ask(judge.libp2p.peerId)
  expect(own.by).toBe(judge.libp2p.peerId.toString())
  expect(own.about).toBe(judged.libp2p.peerId.toString())
  expect(own.score).toEqual(aScore(judged.libp2p.peerId.toString()))
  expect(own.account).toMatchObject({ period: 'now', rewardable: 7, rescued: 2 })
  expect(own.receiptsCut).toBe(false)
  expect((await asking2.ask(judge.libp2p.peerId)).score?.peer).toBe(other.libp2p.peerId.toString())
  expect((await asking.ask(judge.libp2p.peerId, { period: '2026-11-30' })).account?.period).toBe('2026-11-30')
  // Whoever is handed the signed bytes can check them, too.
  const { signed, ...statement } = own
  expect(await readStatement(signed)).toEqual(statement)
})

it('many receipts come in several answers of bounded length', async () => {
  const [judge, judged] = [await node(), await node()]
  await speaks(judge, lines(5000))
  const asking = await speaks(judged)
  await dial(judged, judge)
  const all: OwnReceipt[] = []
  let answers = 0
  for (;;) {
    const own = await asking.ask(judge.libp2p.peerId, { receiptsFrom: all.length })
    expect(own.signed.byteLength).toBeLessThanOrEqual(256 * 1024)
    expect(own.receiptsInAll).toBe(5000)
    expect(own.receiptsCut).toBe(true)
    all.push(...own.receipts)
    answers += 1
    if (own.receipts.length === 0 || all.length >= own.receiptsInAll) break
  }
  expect(all).toEqual(receipts(5000))
  expect(answers).toBeGreaterThan(1)
})

it('who asks too often is not answered, and another still is', async () => {
  const [judge, greedy, other] = [await node(), await node(), await node()]
  await speaks(judge)
  const asking = await speaks(greedy)
  const patient = await speaks(other)
  await dial(greedy, judge)
  await dial(other, judge)
  let refused = 0
  for (let time = 0; time < 80; time++) await asking.ask(judge.libp2p.peerId).catch(() => (refused += 1))
  expect(refused).toBeGreaterThan(0)
  expect(refused).toBeLessThanOrEqual(16)
  expect((await patient.ask(judge.libp2p.peerId)).score).not.toBeNull()
})

it('a peer that is not connected, or does not speak the protocol, is named in the error', async () => {
  const [asker, silent, far] = [await node(), await node(), await node()]
  const asking = await speaks(asker)
  await dial(asker, silent)
  await expect(asking.ask(silent.libp2p.peerId)).rejects.toMatchObject({ code: 'ERR_SCORE_UNAVAILABLE' })
  await expect(asking.ask(silent.libp2p.peerId)).rejects.toThrow('does not speak the protocol')
  await expect(asking.ask(far.libp2p.peerId)).rejects.toThrow('it is not connected')
  await expect(asking.ask(asker.libp2p.peerId)).rejects.toThrow('it is this node itself')
  await speaks(far, lines(), undefined)
  const reason = new Error('enough')
  await expect(asking.ask(silent.libp2p.peerId, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

/** Answers every question so; what stands on the wire is this frame alone. */
async function answers(judge: Node, answer: (stream: Stream) => Promise<Uint8Array | undefined>): Promise<void> {
  await judge.libp2p.handle(scoresProtocol, async (stream) => {
    const frame = await answer(stream)
    if (frame === undefined) return
    stream.send(frame)
    await stream.close().catch(() => undefined)
  })
}

function framed(bytes: Uint8Array): Uint8Array {
  const length = bytes.byteLength
  return Uint8Array.of(...(length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7]), ...bytes)
}

it('an answer that is signed by another, about another, changed or no answer at all is refused', async () => {
  const [judge, judged, third] = [await node(), await node(), await node()]
  const asking = await speaks(judged)
  await dial(judged, judge)
  const by = judge.libp2p.peerId
  const about = judged.libp2p.peerId
  const own = await statementAbout(lines(), { by, about, atMs: 1, bytesMax: 100_000 })
  const good = await signStatement(own, judge.privateKey)
  const changed = Uint8Array.from(good, (byte, at) => (at === good.byteLength - 100 ? byte ^ 1 : byte))
  const texts = new TextEncoder()
  const refused: [string, Uint8Array | undefined][] = [
    ['signed by another', framed(await signStatement(own, third.privateKey))],
    ['by another, and signed by it', framed(await signStatement({ ...own, by: third.libp2p.peerId.toString() }, third.privateKey))],
    ['about another', framed(await signStatement({ ...own, about: third.libp2p.peerId.toString() }, judge.privateKey))],
    ['changed', framed(changed)],
    ['without a field', framed(await signStatement({ ...own, receipts: undefined as never }, judge.privateKey))],
    [
      'with a score of a text',
      framed(await signStatement({ ...own, score: { ...aScore('x'), score: 'high' as never } }, judge.privateKey))
    ],
    ['with a NaN', framed(await signStatement({ ...own, score: { ...aScore('x'), share: Number.NaN } }, judge.privateKey))],
    ['no envelope', framed(texts.encode('hello'))],
    ['nothing', new Uint8Array(0)],
    ['an empty frame', Uint8Array.of(0)],
    ['a frame of 1 GiB', Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x04, 1, 2, 3)],
    ['a length without end', new Uint8Array(100).fill(0x80)]
  ]
  let frame: Uint8Array | undefined
  await answers(judge, async () => frame)
  for (const [name, answer] of refused) {
    frame = answer
    const refusal = await asking.ask(by).then(
      () => 'taken',
      (error: unknown) => (error as { code?: unknown }).code
    )
    expect([name, refusal]).toEqual([name, 'ERR_SCORE_UNAVAILABLE'])
  }
  frame = framed(good)
  expect((await asking.ask(by)).score).toEqual(own.score)
})

it('garbage, huge, half and endless questions harm nobody: others are answered meanwhile', async () => {
  const [judge, hostile, other] = [await node(), await node(), await node()]
  await speaks(judge)
  const asking = await speaks(other)
  await dial(other, judge)
  const connection = await dial(hostile, judge)
  const texts = new TextEncoder()
  const sent = [
    Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f),
    new Uint8Array(300_000).fill(0x61),
    framed(texts.encode('[1,2')),
    framed(texts.encode('null')),
    framed(texts.encode('{"from":-1}')),
    framed(texts.encode('{"from":1e400}')),
    framed(texts.encode(`{"period":"${'9'.repeat(100)}"}`)),
    framed(Uint8Array.of(0xff, 0xfe))
  ]
  for (const bytes of sent) {
    const stream = await connection.newStream(scoresProtocol)
    stream.send(bytes)
    while (stream.status === 'open') await sleep(5)
    expect(stream.status).not.toBe('open')
  }
  // Streams on which no question ever ends; above the limit of the protocol they are refused.
  const halves: Stream[] = []
  for (let at = 0; at < 3; at++) {
    const half = await connection.newStream(scoresProtocol)
    half.send(Uint8Array.of(10, 0x7b))
    halves.push(half)
  }
  expect((await asking.ask(judge.libp2p.peerId)).score).not.toBeNull()
  for (const half of halves) half.abort(new Error('enough'))
})

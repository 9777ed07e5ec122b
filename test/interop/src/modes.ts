/** What a stock client gets from our node in each mode of serving; the same list for Helia and Kubo. */
import type { AdmissionSettings } from '@shardswap/peer'
import { expect, onTestFinished, test } from 'vitest'
import { blockOf, bytesOf, contentOf, mebibyte, sha256Of, type FileSpec } from './content.ts'
import type { BitswapNode } from './node-api.ts'
import type { RunningOurNode } from './start-ours.ts'

interface ModePair {
  readonly ours: RunningOurNode
  readonly client: BitswapNode
  stop(): Promise<void>
}

export interface ModesInit {
  readonly fetches: string
  /** Starts both nodes and connects them. */
  start(admission: AdmissionSettings): Promise<ModePair>
  /** How long `start` may take, in milliseconds. */
  readonly startMs?: number
}

const testMs = 120_000
/** How long a client tries that is refused; both go on looking for others. */
const triesMs = 3000
const file: FileSpec = { bytes: 16 * mebibyte, seed: 31, cidVersion: 1, rawLeaves: true }

/** Modes in which a client without an owner is served, and what they are called. */
const serving = [
  { name: 'open', admission: { mode: 'open' } },
  { name: 'open, with a free score of 1', admission: { mode: 'open', limits: { freeScoreRequests: 1 } } },
  { name: 'registered, with the free score', admission: { mode: 'registered' } }
] as const satisfies readonly { name: string; admission: AdmissionSettings }[]

const refusing = [
  { name: 'registered, with a free score of 0', admission: { mode: 'registered', limits: { freeScoreRequests: 0 } } },
  { name: 'off', admission: { mode: 'off' } }
] as const satisfies readonly { name: string; admission: AdmissionSettings }[]

export function testModes(init: ModesInit): void {
  const timeout = testMs + (init.startMs ?? 0)
  const started = async (admission: AdmissionSettings): Promise<ModePair> => {
    const pair = await init.start(admission)
    onTestFinished(async () => await pair.stop())
    return pair
  }
  test.for(serving)(`[I14] ${init.fetches} fetches a file in the mode $name`, { timeout }, async ({ admission }) => {
    const { ours, client } = await started(admission)
    const root = await ours.addFile(file)
    expect(await client.readFile(root)).toMatchObject({ bytes: file.bytes, sha256: sha256Of(contentOf(file)) })
    const { decisions } = await ours.served()
    expect(decisions).toMatchObject({ free: expect.any(Number) as number })
  })

  test.for(refusing)(`[I12][I14] ${init.fetches} is refused in the mode $name`, { timeout }, async ({ admission }) => {
    const { ours, client } = await started(admission)
    const { cid, bytes } = await blockOf(bytesOf(4096, 32), 0x55)
    await ours.putBlock(cid.toString(), bytes)
    const got = await client.getBlock(cid.toString(), { timeoutMs: triesMs }).catch((error: unknown) => error)
    expect(got).toBeInstanceOf(Error)
    const { blocks, decisions } = await ours.served()
    expect(blocks).toBe(0)
    expect(decisions[admission.mode === 'off' ? 'off' : 'low-free-score']).toBeGreaterThan(0)
  })
}

import { type BlockKey, type PeerKey, peerKey } from '@shardswap/interface'
import { expect, it } from 'vitest'
import type { Command } from '../src/index.ts'
import { scene, want } from './scene.ts'

/** What each peer does with a want-have or a want-block: `block` delivers it. */
type Answer = 'have' | 'dont-have' | 'block' | 'nothing'
type Script = (type: 'want-have' | 'want-block') => Answer

const honest: Script = (type) => (type === 'want-have' ? 'have' : 'block')
const liar: Script = (type) => (type === 'want-have' ? 'have' : 'dont-have')
const silent: Script = (type) => (type === 'want-have' ? 'have' : 'nothing')

/** Runs a session of `blocks` wants to its end, every answer 10 ms after its question. Returns the want-blocks that each peer got. */
function run(scripts: ReadonlyMap<PeerKey, Script>, blocks: number, seed: number): Map<PeerKey, number> {
  const broker = scene({ peers: [...scripts.keys()], seed })
  const asked = new Map<PeerKey, number>()
  let answers: { readonly peer: PeerKey; readonly key: BlockKey; readonly answer: Answer }[] = []
  let delivered = 0
  const take = (commands: readonly Command[]): void => {
    for (const command of commands) {
      if (command.type !== 'send') continue
      for (const { type, key } of command.entries) {
        if (type === 'cancel') continue
        if (type === 'want-block') asked.set(command.peer, 1 + (asked.get(command.peer) ?? 0))
        answers.push({ peer: command.peer, key, answer: scripts.get(command.peer)?.(type) ?? 'nothing' })
      }
    }
  }
  want(broker, 0, blocks)
  take(broker.decide(0))
  for (let nowMs = 10; nowMs < 120_000 && delivered < blocks; nowMs += 10) {
    const due = answers
    answers = []
    for (const { peer, key, answer } of due) {
      if (answer === 'have' || answer === 'dont-have') broker.receivePresence(peer, key, answer, nowMs)
      if (answer !== 'block') continue
      broker.receiveBytes(peer, 8192, nowMs)
      if (broker.receiveBlock(peer, key, 8192, nowMs).kind === 'wanted') delivered += 1
    }
    take(broker.tick(nowMs))
  }
  expect(delivered).toBe(blocks)
  return asked
}

const one = peerKey('honest')

function beside(script: Script): Map<PeerKey, Script> {
  return new Map([[one, honest], ...Array.from({ length: 30 }, (_, i) => [peerKey(`bad ${i}`), script] as const)])
}

it.each([1, 2, 3])('[B17] a peer that says HAVE and then DONT_HAVE sinks as one that times out (seed %d)', (seed) => {
  const asked = run(beside(liar), 1000, seed)
  expect(asked.get(one)).toBe(1000)
  // Of 1,000 blocks, some thirty: until its limit is 1 and its weight next to nothing. Were it no timeout, it would be twice as many.
  asked.delete(one)
  expect(Math.max(...asked.values())).toBeLessThanOrEqual(40)
})

it.each([1, 2, 3])('wants in line at peers whose limits shrink go on in turn, where those before them went elsewhere (seed %d)', (seed) => {
  expect(run(beside(silent), 1000, seed).get(one)).toBe(1000)
})

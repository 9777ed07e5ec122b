import type { BlockKey } from '@shardswap/interface'
import { Broken } from './broken.ts'
import { strayBytesMax, type World } from './world.ts'

/** What must hold at any time. Throws Broken. */
export function check(world: World): void {
  checkQueues(world)
  checkSums(world)
}

function checkQueues({ core, limits }: World): void {
  for (const { peer, connected, inFlight, backups, haves, windowBytes, limitWants } of core.queues()) {
    const stands = core.standingAt(peer).length
    if (inFlight + backups + haves > limits.queueWantsMax || stands > limits.queueWantsMax)
      throw new Broken(`${peer} has more than its queue may hold`)
    if (haves > limits.queueHavesMax) throw new Broken(`${peer} has more want-haves than it may`)
    if (!connected && stands > 0) throw new Broken(`${peer} is gone, and something stands there`)
    if (!(windowBytes > 0 && limitWants > 0)) throw new Broken(`${peer} has no window`)
  }
}

function checkSums({ core, limits, sessions, setting, judge }: World): void {
  const gauges = core.gauges()
  let [inFlight, bytes, backups, connected, ofSessions] = [0, 0, 0, 0, 0]
  for (const queue of core.queues()) {
    inFlight += queue.inFlight
    bytes += queue.inFlightBytes
    backups += queue.backups
    connected += Number(queue.connected)
  }
  if (gauges.inFlight !== inFlight || gauges.inFlightBytes !== bytes || gauges.backups !== backups)
    throw new Broken('the sums over all peers are wrong')
  // One want may always be out; a block's size shows only afterwards.
  const bytesMax = limits.inFlightBytesMax + Math.max(setting.blockBytes, 300_000) + strayBytesMax
  if (inFlight > 1 && bytes > bytesMax) throw new Broken(`${bytes} bytes in flight over all peers`)
  for (const [id, { wants }] of sessions) {
    const figures = core.session(id)
    if (figures?.wants !== wants.size) throw new Broken(`session ${id} counts ${figures?.wants} wants of ${wants.size}`)
    ofSessions += figures.inFlight
  }
  // Those that are left their time after their session has ended are no session's.
  const isWanted = (key: BlockKey): boolean => [...sessions.values()].some(({ wants }) => wants.has(key))
  const most = inFlight === ofSessions ? 0 : (judge?.unwanted(isWanted) ?? 0)
  if (ofSessions > inFlight || inFlight - ofSessions > most) {
    throw new Broken(`${ofSessions} wants in flight over all sessions, ${inFlight} over all peers`)
  }
  if (gauges.peers > connected + limits.peersRememberedMax + 1) throw new Broken(`${gauges.peers} peers are remembered`)
}

/** Wakes after the end of all sessions, until nothing is left to wake for. */
const wakesMax = 5000

/** Everything ends: nothing is left, nowhere, and nothing wakes any more. Throws Broken. */
export function checkEnd(world: World): void {
  const { core } = world
  for (const id of Array.from(world.sessions.keys())) world.closeSession(id)
  world.take(core.decide(world.nowMs))
  // Primaries whose backups were quicker have their time first.
  for (let wakes = 0, wakeMs = core.wakeAtMs(); wakeMs !== undefined; wakes++, wakeMs = core.wakeAtMs()) {
    if (wakes > wakesMax) throw new Broken('it wakes for ever')
    world.nowMs = Math.max(world.nowMs, wakeMs)
    core.tick(world.nowMs)
  }
  const { sessions, wants, inFlight, inFlightBytes, backups, haves, records } = core.gauges()
  const left = { sessions, wants, inFlight, inFlightBytes, backups, haves, records, turns: world.judge?.open ?? 0 }
  if (Object.values(left).some((value) => value !== 0)) throw new Broken(`left at the end: ${JSON.stringify(left)}`)
  for (const { peer } of core.queues()) if (core.standingAt(peer).length > 0) throw new Broken(`something stands at ${peer}`)
}

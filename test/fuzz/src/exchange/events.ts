import { type PeerKey, peerKey } from '@shardswap/interface'
import { blocks, chance, numberOf } from './setting.ts'
import { strayBytesMax, type World } from './world.ts'

type Event = (world: World) => void

const hourMs = 3_600_000

/** A wild peer; now and then one that was never heard of. */
function somebody({ random, setting }: World): PeerKey {
  return chance(random, 5) ? peerKey(`stranger${random.below(1000)}`) : random.pick(setting.wild)
}

function someBlock({ random, setting }: World): (typeof blocks)[number] {
  return blocks[random.below(setting.blocksUsed)] as (typeof blocks)[number]
}

function someSession({ random, sessions }: World): number | undefined {
  return sessions.size === 0 ? undefined : random.pick(Array.from(sessions.keys()))
}

function connect(world: World): void {
  const key = somebody(world)
  const supportsHave = world.setting.wildSupportsHave[world.setting.wild.indexOf(key)] ?? chance(world.random, 50)
  world.core.connectPeer(key, supportsHave, world.nowMs)
}

function wants(world: World): void {
  const id = someSession(world)
  if (id === undefined) return
  const count = chance(world.random, 30) ? 10 : 1
  for (let i = 0; i < count; i++) world.want(id, world.random.below(world.setting.blocksUsed))
}

function drops(world: World): void {
  const id = someSession(world)
  if (id !== undefined) world.drop(id, someBlock(world).key)
}

function presences(world: World): void {
  const peer = somebody(world)
  for (const { key } of world.core.standingAt(peer)) {
    world.core.receivePresence(peer, key, chance(world.random, 50) ? 'have' : 'dont-have', world.nowMs)
  }
}

/** A block, mostly one that it was asked for. */
function block(world: World): void {
  const { random, core, setting, nowMs } = world
  const peer = somebody(world)
  const standing = core.standingAt(peer)
  const { key } = standing.length > 0 && chance(random, 80) ? random.pick(standing) : someBlock(world)
  const bytes = chance(random, 10) ? random.below(strayBytesMax) : setting.blockBytes
  core.receiveBytes(peer, bytes, nowMs)
  if (core.receiveBlock(peer, key, bytes, nowMs).kind === 'wanted') world.ended(key)
}

function talk(world: World): void {
  const { random, core, nowMs } = world
  const peer = somebody(world)
  core.receivePendingBytes(peer, chance(random, 50) ? 2 ** 31 : 0, nowMs)
  core.receiveBytes(peer, random.below(1e6), nowMs)
  if (chance(random, 50)) core.receiveTalk(peer, random.below(1e6))
  if (chance(random, 25)) core.receiveBusy(peer, random.below(60_000), nowMs)
}

function put(world: World): void {
  const { key } = someBlock(world)
  world.core.putBlock(key, world.nowMs)
  world.ended(key)
}

/** An honest peer's connection is cut, and there again at once. */
function cut(world: World): void {
  const peer = world.random.pick(world.honest)
  world.core.disconnectPeer(peer.key, world.nowMs)
  peer.forget()
  world.core.connectPeer(peer.key, peer.supportsHave, world.nowMs)
}

function pass(world: World): void {
  const { random } = world
  if (chance(random, 2)) world.nowMs += hourMs * (1 + random.below(30))
  else if (!chance(random, 30)) world.nowMs += random.below(chance(random, 50) ? 50 : 3000)
}

/** By name, with how many tickets each has in the draw. */
const events: Readonly<Record<string, readonly [tickets: number, run: Event]>> = {
  open: [4, (world) => (world.sessions.size < world.setting.sessionsMax ? world.openSession() : undefined)],
  close: [1, (world) => (world.sessions.size > 1 ? world.closeSession(someSession(world) as number) : undefined)],
  wants: [16, wants],
  drops: [4, drops],
  connect: [9, connect],
  disconnect: [2, (world) => world.core.disconnectPeer(somebody(world), world.nowMs)],
  cut: [1, cut],
  provider: [4, (world) => world.core.providerFound(someSession(world) ?? 0, somebody(world), world.nowMs)],
  partner: [4, (world) => world.core.peerWants(somebody(world), someBlock(world).key, world.nowMs)],
  have: [4, (world) => world.core.receivePresence(somebody(world), someBlock(world).key, 'have', world.nowMs)],
  dontHave: [4, (world) => world.core.receivePresence(somebody(world), someBlock(world).key, 'dont-have', world.nowMs)],
  presences: [4, presences],
  block: [4, block],
  talk: [4, talk],
  put: [3, put],
  unasked: [1, (world) => void world.core.receiveUnasked(somebody(world), world.nowMs)],
  pass: [6, pass]
}

const tickets = Object.entries(events).flatMap(([name, [count]]) => Array.from({ length: count }, () => name))

/** One event by chance; it is told. */
export function happen(world: World): void {
  const name = world.random.pick(tickets)
  world.say(`event: ${name}`)
  events[name]?.[1](world)
}

/** For people: which wants are left. */
export function leftWants(world: World): string {
  return world
    .fillable()
    .slice(0, 3)
    .map(({ id, key }) => `${id}:${numberOf(key)}`)
    .join(', ')
}

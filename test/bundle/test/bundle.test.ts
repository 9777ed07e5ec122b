import { readFile } from 'node:fs/promises'
import { createContext, Script } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { allCores, coreBundle, cores, gzipBytesMax, togetherGzipBytesMax } from '../src/bounds.ts'
import { bundle, BundleError } from '../src/bundle.ts'

/** What it takes to have a want sent: a broker with sessions, one peer, one block; told by what the page gets to see. */
const page = `
  const { session, broker, reliability, protocol, nouns } = shardswap
  const cid = nouns.CID.parse('bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq')
  const key = nouns.blockKey(cid)
  const judge = new reliability.Reliability({ limits: reliability.defaultReliabilityLimits, wallMs: 0, nowMs: 0 })
  const core = new broker.Broker({
    limits: broker.defaultBrokerLimits,
    random: { next: () => 0.5 },
    reliability: judge,
    openSession: (options) => new session.Session({ ...options, limits: session.defaultSessionLimits, self: 'me' })
  })
  const [frame] = protocol.encodeMessages({ entries: [], blocks: [{ cid, bytes: new TextEncoder().encode('hello') }] }, '1.2.0')
  const decoder = new protocol.FrameDecoder()
  decoder.push(frame)
  const [message] = decoder.frames()
  const decoded = protocol.decodeMessage(message)
  core.connectPeer('them', true, 0)
  core.openSession(1, {}, 0)
  core.addWant(1, cid, key, 0)
  const sent = core.decide(0).filter(({ type }) => type === 'send').flatMap(({ peer, entries }) => entries.map((entry) => peer + ' ' + entry.type))
  const arrival = core.receiveBlock('them', key, decoded.blocks[0].data.byteLength, 5)
  JSON.stringify([sent, arrival.kind, new TextDecoder().decode(decoded.blocks[0].data)])
`

describe('the cores in a browser', () => {
  it.each(cores)('%s: its bundle needs nothing of Node’s, and is small', async (core) => {
    const { gzipBytes, others } = await coreBundle(core)
    expect(gzipBytes).toBeLessThanOrEqual(gzipBytesMax[core])
    // A bound that is far off guards nothing.
    expect(gzipBytes).toBeGreaterThan(gzipBytesMax[core] / 2)
    expect(others.filter((name) => /polyfill|browserify|^(buffer|process|events|util|crypto)/.test(name))).toEqual([])
  })

  it('all in one file work where there is neither process nor Buffer', async () => {
    expect((await allCores()).gzipBytes).toBeLessThanOrEqual(togetherGzipBytesMax)
    const exports = [...cores.map((core) => [core, core] as const), ['nouns', 'interface'] as const]
    const { code } = await bundle(exports.map(([name, from]) => `export * as ${name} from '@shardswap/${from}'`).join('\n'), 'shardswap')
    const context = createContext({ TextEncoder, TextDecoder })
    new Script(code).runInContext(context)
    expect(JSON.parse(String(new Script(page).runInContext(context)))).toEqual([['them want-block'], 'wanted', 'hello'])
  })

  it('are held to the sizes that docs/cores.md tells', async () => {
    const document = await readFile(new URL('../../../docs/cores.md', import.meta.url), 'utf8')
    for (const core of cores) expect(document).toMatch(new RegExp(`^\\| .@shardswap/${core}. .* ${gzipBytesMax[core]} bytes \\|$`, 'm'))
    expect(document).toContain(`held to ${togetherGzipBytesMax} bytes`)
  })

  it('fails where an import of Node’s creeps in', async () => {
    await expect(bundle("export * from '@shardswap/session'\nexport { hash } from 'node:crypto'")).rejects.toThrow(/node:crypto/)
    await expect(bundle("export { readFileSync } from 'fs'")).rejects.toThrow(BundleError)
  })
})

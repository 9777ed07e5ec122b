import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exchangeMetrics, type MetricSpec, routingMetrics } from '@shardswap/peer'
import { memoryRepo } from '@shardswap/repo'
import { create } from 'kubo-rpc-client'
import { expect, test, vi } from 'vitest'
import { connectDaemon, type Daemon } from '../src/index.ts'
import { RateMeter } from '../src/metrics/rate-meter.ts'
import { storeMetrics } from '../src/metrics/store-table.ts'
import { daemonMetrics } from '../src/metrics/table.ts'
import { bytesOf, collect, newDaemon, someBytes, urlOf } from './setup.ts'

const docs = join(import.meta.dirname, '../../../docs')

async function scrape(daemon: Daemon): Promise<string> {
  const answer = await fetch(urlOf(daemon).replace('/api/v0', '/debug/metrics/prometheus'))
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return await answer.text()
}

/** The samples of a page, by name and labels as they stand there. */
function samplesOf(page: string): Map<string, number> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

/** Names of what is served, with their types. */
function typesOf(page: string): Map<string, string> {
  return new Map([...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
}

const table: readonly MetricSpec<never>[] = [...exchangeMetrics, ...routingMetrics, ...daemonMetrics, ...storeMetrics]

test('what a daemon does is told to Prometheus, and every gauge of what it holds is 0 once nobody waits', async () => {
  const [daemon, other] = [await newDaemon(), await newDaemon()]
  const content = someBytes(2_000_000)
  const [added] = await collect(other.node.add([{ path: 'f', content }], { cidVersion: 1 }))
  await daemon.node.swarmConnect(other.addresses[0] ?? '')
  const remote = await connectDaemon(daemon.api)
  expect(await bytesOf(remote.cat(String(added?.cid)))).toEqual(Buffer.from(content))
  await expect(remote.blockGet((await other.node.blockPut(someBytes(9))).cid, { offline: true })).rejects.toThrow('not found')
  await fetch(`${urlOf(daemon)}/cat?arg=frob`, { method: 'POST' })

  const page = await scrape(daemon)
  const busy = samplesOf(page)
  expect(busy.get('shardswap_connected_peers')).toBe(1)
  expect(busy.get('shardswap_block_bytes_received_total')).toBeGreaterThanOrEqual(2_000_000)
  expect(busy.get('shardswap_rpc_calls_total{command="cat"}')).toBe(2)
  expect(busy.get('shardswap_rpc_failures_total{fault="caller"}')).toBe(1)
  expect(busy.get('shardswap_rpc_failures_total{fault="node"}')).toBe(1)
  expect(busy.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(busy.get('libp2p_data_transfer_bytes_total{protocol="global received"}')).toBeGreaterThan(2_000_000)
  for (const { name, kind } of table) expect({ name, type: typesOf(page).get(name) }).toEqual({ name, type: kind })

  await other.stop()
  await vi.waitFor(async () => {
    const rest = samplesOf(await scrape(daemon))
    const held = table.filter(({ isZeroAtRest }) => isZeroAtRest === true)
    expect(held.length).toBeGreaterThan(15)
    const left = [...rest].filter(([key, value]) => held.some(({ name }) => key.split('{')[0] === name) && value !== 0)
    expect(left).toEqual([])
  }, 20_000)
})

test('a repo with a limit tells how much of it is taken', async () => {
  const repo = await memoryRepo()
  const daemon = await newDaemon({ ...repo, config: { ...repo.config, repo: { maxBytes: 50_000_000, gcAtShare: 0.9 } } })
  await daemon.node.blockPut(someBytes(1_000_000))
  const samples = samplesOf(await scrape(daemon))
  expect(samples.get('shardswap_repo_block_bytes')).toBe(1_000_000)
  expect(samples.get('shardswap_repo_limit_bytes')).toBe(50_000_000)
})

test('a page of another origin may not read metrics, and they are read with GET alone', async () => {
  const daemon = await newDaemon()
  const url = urlOf(daemon).replace('/api/v0', '/debug/metrics/prometheus')
  expect((await fetch(url, { headers: { Referer: 'http://example.com/' } })).status).toBe(403)
  expect((await fetch(url, { method: 'POST' })).status).toBe(405)
})

test("stats bw tells what went over the network, to Kubo's client too", async () => {
  const [daemon, other] = [await newDaemon(), await newDaemon()]
  await daemon.node.swarmConnect(other.addresses[0] ?? '')
  const { cid } = await other.node.blockPut(someBytes(500_000))
  await daemon.node.blockGet(cid)
  const [bandwidth] = await collect(create(urlOf(daemon)).stats.bw())
  expect(bandwidth?.totalIn).toBeGreaterThan(500_000n)
  expect(bandwidth?.totalOut).toBeGreaterThan(100n)
  const remote = await connectDaemon(daemon.api)
  const bitswap = await remote.stats.bandwidth({ protocol: '/ipfs/bitswap/1.2.0' })
  expect(bitswap.totalInBytes).toBeGreaterThan(500_000)
  expect(bitswap.totalInBytes).toBeLessThan(Number(bandwidth?.totalIn))
  expect(await remote.stats.bandwidth({ protocol: '/none' })).toEqual({
    totalInBytes: 0,
    totalOutBytes: 0,
    inBytesPerS: 0,
    outBytesPerS: 0
  })
  const lines: unknown[] = []
  for await (const line of create(urlOf(daemon)).stats.bw({ poll: true, interval: '1ms' })) {
    lines.push(line)
    if (lines.length === 3) break
  }
  expect(lines).toHaveLength(3)
})

test('a rate is that of the last samples', () => {
  const meter = new RateMeter(3)
  expect(meter.perS('in')).toBe(0)
  for (const [at, total] of [0, 100, 300, 900].entries()) meter.sample(new Map([['in', total]]), at * 1000)
  expect(meter.perS('in')).toBe(400)
  expect(meter.perS('out')).toBe(0)
})

/** A row of docs/metrics.md. */
function row({ name, kind, label, isZeroAtRest, help }: MetricSpec<never>): string {
  return `| \`${name}\`${label === undefined ? '' : ` by \`${label}\``} | ${kind} | ${isZeroAtRest === true ? '0' : ''} | ${help} |`
}

test('docs/metrics.md lists what is served', async () => {
  const text = await readFile(join(docs, 'metrics.md'), 'utf8')
  const rows = text.split('\n').filter((line) => /^\| `(shardswap|process|nodejs)_/.test(line))
  for (const spec of table) expect(rows).toContain(row(spec))
  const served = [...typesOf(await scrape(await newDaemon())).keys()].filter((name) => !name.startsWith('libp2p_'))
  expect(rows.map((line) => /`(\w+)`/.exec(line)?.[1] ?? '').toSorted()).toEqual(served.toSorted())
})

interface Panel {
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[]
}

test('every query of the Grafana board asks for what is served, and its panels lie side by side', async () => {
  const board = JSON.parse(await readFile(join(docs, 'grafana.json'), 'utf8')) as { schemaVersion: number; panels: readonly Panel[] }
  const served = typesOf(await scrape(await newDaemon()))
  expect(board.schemaVersion).toBeGreaterThanOrEqual(39)
  const cells = new Set<string>()
  for (const {
    title,
    gridPos: { h, w, x, y }
  } of board.panels) {
    expect({ title, fits: x >= 0 && w > 0 && x + w <= 24 && h > 0 }).toEqual({ title, fits: true })
    for (let column = x; column < x + w; column++) {
      for (let line = y; line < y + h; line++) {
        expect({ title, taken: cells.has(`${column},${line}`) }).toEqual({ title, taken: false })
        cells.add(`${column},${line}`)
      }
    }
  }
  const queries = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  expect(queries.length).toBeGreaterThan(10)
  for (const expr of queries) {
    const names = expr.match(/\b(?:shardswap|libp2p|process|nodejs)_\w+/g) ?? []
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) {
      // A counter is asked for its rate, a gauge is not.
      expect({ expr, name, type: served.get(name) }).toEqual({ expr, name, type: expr.includes('rate(') ? 'counter' : 'gauge' })
    }
  }
})

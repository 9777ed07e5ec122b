/** How a table of metrics is put into libp2p's metrics, whatever stands behind them. */
import type { Metrics } from '@libp2p/interface'

/** One number, or one for each value of a label. All values of a label are given each time, so that none stays behind. */
export type MetricValue = number | Readonly<Record<string, number>>

/** One metric of a table. `S` is what it is read from. */
export interface MetricSpec<S> {
  /** By Prometheus' convention: base units, and `_total` at the end of a counter. */
  readonly name: string
  /** A gauge goes up and down, a counter only up. */
  readonly kind: 'gauge' | 'counter'
  /** What it tells, for people. */
  readonly help: string
  /** The label's name, where the value is a record. Its values are few and fixed. */
  readonly label?: string
  /** Whether it is 0 once nobody waits for anything and nobody is connected. */
  readonly isZeroAtRest?: boolean
  /** Its value now. */
  value(state: S): MetricValue
}

/**
 * Registers the metrics of a table. They are read when somebody collects them and cost nothing between. `read` is asked
 * once for each collection; where it gives nothing, gauges are 0 and counters stand still.
 */
export function registerMetrics<S>(metrics: Metrics, table: readonly MetricSpec<S>[], read: () => S | undefined): void {
  const once = perTurn(read)
  for (const spec of table) register(metrics, spec, once)
}

function register<S>(metrics: Metrics, spec: MetricSpec<S>, read: () => S | undefined): void {
  const { name, help, label } = spec
  const value = (): MetricValue => {
    const state = read()
    return state === undefined ? {} : spec.value(state)
  }
  if (spec.kind === 'gauge') {
    if (label === undefined) metrics.registerMetric(name, { help, calculate: () => asNumber(value()) })
    else {
      const seen = new Set<string>()
      metrics.registerMetricGroup(name, { help, label, calculate: () => allOf(asRecord(value()), seen) })
    }
    return
  }
  const last = new Map<string, number>()
  if (label === undefined) metrics.registerCounter(name, { help, calculate: () => grown(last, '', asNumber(value())) })
  else {
    const calculate = (): Record<string, number> => {
      return Object.fromEntries(Object.entries(asRecord(value())).map(([key, count]) => [key, grown(last, key, count)]))
    }
    metrics.registerCounterGroup(name, { help, label, calculate })
  }
}

function asNumber(value: MetricValue): number {
  return typeof value === 'number' ? value : 0
}

function asRecord(value: MetricValue): Readonly<Record<string, number>> {
  return typeof value === 'number' ? {} : value
}

/** The values of a label, and 0 for each that was seen before and is no longer told of. */
function allOf(values: Readonly<Record<string, number>>, seen: Set<string>): Record<string, number> {
  for (const key of Object.keys(values)) seen.add(key)
  return Object.fromEntries([...seen].map((key) => [key, values[key] ?? 0]))
}

/** By how much a count has grown since it was collected last: that is what libp2p's counters add. One that began anew counts from 0. */
function grown(last: Map<string, number>, key: string, count: number): number {
  const before = last.get(key) ?? 0
  last.set(key, count)
  return count < before ? count : count - before
}

/** The same answer for all that ask within one turn of the event loop: a collection asks for each metric. */
function perTurn<S>(read: () => S | undefined): () => S | undefined {
  let answer: { state: S | undefined } | undefined
  return () => {
    if (answer === undefined) {
      answer = { state: read() }
      queueMicrotask(() => {
        answer = undefined
      })
    }
    return answer.state
  }
}

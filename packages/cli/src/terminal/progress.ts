import { formatBytes, formatRate, formatSeconds } from './format.ts'

/** How often the line is drawn at most. */
const redrawMs = 100

const barWidth = 24

/** One line on a terminal's standard error that tells bytes, rate and time left; silent where it is no terminal. */
export class Progress {
  readonly #shown: boolean
  readonly #label: string
  readonly #startedMs = performance.now()
  #total: number | undefined
  #bytes = 0
  #drawnMs = -Infinity

  constructor(label: string, total?: number, shown = process.stderr.isTTY) {
    this.#label = label
    this.#total = total
    this.#shown = shown
  }

  /** How many bytes there will be. */
  expect(total: number): void {
    this.#total = total
  }

  /** So many bytes more. */
  add(bytes: number): void {
    this.set(this.#bytes + bytes)
  }

  /** So many bytes in all, and a remark at the end of the line. */
  set(bytes: number, remark = ''): void {
    this.#bytes = bytes
    const nowMs = performance.now()
    if (!this.#shown || nowMs - this.#drawnMs < redrawMs) return
    this.#drawnMs = nowMs
    this.#draw(`${this.text(nowMs)}${remark === '' ? '' : `  ${remark}`}`)
  }

  /** Wipes the line. */
  end(): void {
    if (this.#shown && this.#drawnMs > 0) process.stderr.write('\r\u001b[K')
  }

  text(nowMs: number): string {
    const seconds = (nowMs - this.#startedMs) / 1000
    const rate = formatRate(this.#bytes, seconds)
    const total = this.#total
    if (total === undefined || total === 0) return `${this.#label}  ${formatBytes(this.#bytes)}  ${rate}`
    const part = Math.min(1, this.#bytes / total)
    const bar = '█'.repeat(Math.round(part * barWidth)).padEnd(barWidth, '░')
    const left = this.#bytes === 0 ? '' : `  ${formatSeconds((seconds * (total - this.#bytes)) / this.#bytes)} left`
    return `${this.#label}  ${bar} ${Math.floor(part * 100)}%  ${formatBytes(this.#bytes)} of ${formatBytes(total)}  ${rate}${left}`
  }

  #draw(text: string): void {
    // A line that wraps could not be wiped.
    process.stderr.write(`\r${text.slice(0, (process.stderr.columns ?? 80) - 1)}\u001b[K`)
  }
}

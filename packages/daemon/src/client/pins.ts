import type { AbortOptions, CID } from '@shardswap/interface'
import { CID as Cid } from '@shardswap/interface'
import type { NodePins, PinAddOptions, PinCheck, PinEntry, PinListOptions, PinRemoveOptions, PinUpdateOptions } from '../api/pins.ts'
import { type PinAddShape, type PinCheckShape, pinCheckOf, pinEntryOf, type PinEntryShape, type PinsShape } from '../pin-shapes.ts'
import { type DaemonCalls, fetchParams } from './daemon-calls.ts'

/** The pins of a daemon. */
export class RemotePins implements NodePins {
  readonly #calls: DaemonCalls

  constructor(calls: DaemonCalls) {
    this.#calls = calls
  }

  async add(paths: readonly string[], options: PinAddOptions = {}): Promise<readonly CID[]> {
    const { signal, isRecursive, name, onProgress } = options
    const params = { arg: paths, recursive: isRecursive, name, progress: onProgress !== undefined, ...fetchParams(options) }
    let pins: readonly string[] = []
    for await (const line of this.#calls.lines<PinAddShape>('pin/add', params, { signal })) {
      if (line.Pins === undefined) onProgress?.(line.Progress ?? 0, line.Bytes ?? 0)
      else pins = line.Pins
    }
    return pins.map((text) => Cid.parse(text))
  }

  async *ls({ type, name, paths, signal }: PinListOptions = {}): AsyncGenerator<PinEntry> {
    const params = { arg: paths, type, name, names: true, stream: true }
    for await (const line of this.#calls.lines<PinEntryShape>('pin/ls', params, { signal })) yield pinEntryOf(line)
  }

  async rm(paths: readonly string[], options: PinRemoveOptions = {}): Promise<readonly CID[]> {
    const { isRecursive, signal } = options
    const params = { arg: paths, recursive: isRecursive, ...fetchParams(options) }
    const { Pins } = await this.#calls.json<PinsShape>('pin/rm', params, { signal })
    return Pins.map((text) => Cid.parse(text))
  }

  async update(from: string, to: string, options: PinUpdateOptions = {}): Promise<readonly [CID, CID]> {
    const { unpin, signal } = options
    const params = { arg: [from, to], unpin, ...fetchParams(options) }
    const { Pins } = await this.#calls.json<PinsShape>('pin/update', params, { signal })
    return Pins.map((text) => Cid.parse(text)) as unknown as readonly [CID, CID]
  }

  async *verify({ signal }: AbortOptions = {}): AsyncGenerator<PinCheck> {
    const params = { verbose: true }
    for await (const line of this.#calls.lines<PinCheckShape>('pin/verify', params, { signal })) {
      yield pinCheckOf(line)
    }
  }
}

import { pinFactorMax } from './limits.ts'

/**
 * Bytes to hold on to after their frame is done with. A slice pins all of the
 * memory that it is cut from: where that is more than `pinFactorMax` times its
 * own size, the bytes are copied, else they are returned as they are.
 */
export function keep(data: Uint8Array): Uint8Array {
  if (data.buffer.byteLength <= data.byteLength * pinFactorMax) return data
  const copy = new Uint8Array(data.byteLength)
  copy.set(data)
  return copy
}

import { pinFactorMax } from './limits.ts'

/**
 * Bytes to hold on to after their frame is done with. A slice pins all of the
 * memory that it is cut from: where that is more than `pinFactorMax` times its
 * own size, the bytes are copied, else they are returned as they are.
 */
export function keep(data: Uint8Array): Uint8Array {
  return data.buffer.byteLength <= data.byteLength * pinFactorMax ? data : new Uint8Array(data)
}

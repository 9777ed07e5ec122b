const made = new Map<number, Uint8Array>()

/** Bytes of a length, shared by all who ask: nobody looks into a simulated block. */
export function bytesOfLength(length: number): Uint8Array {
  let bytes = made.get(length)
  if (bytes === undefined) {
    bytes = new Uint8Array(length)
    made.set(length, bytes)
  }
  return bytes
}

/**
 * Memory that goes back to the system as soon as its bytes were used, not when garbage is next collected.
 *
 * Each byte of a large block lies in several places on its way: where the socket read it, deciphered, in its message. V8
 * keeps small account of memory outside its heap: it let 60 to 130 MB of spent memory pile up, more the longer a
 * transfer lasted, and the allocator keeps what a process once had. Only memory of which all uses are known
 * is given back: it was noted when it was made, and whoever gives it back has used the last of its bytes.
 */

/** Smaller memory is left to the garbage collector: it is not worth the look. */
export const spentBytesMin = 16 * 1024

/** What Yamux puts before the bytes of a stream. */
const yamuxHeadBytes = 12
/** What Noise puts before an encrypted frame. */
const noiseHeadBytes = 2

/** Output of ciphers. Its bytes go to one socket, or to the streams of one connection. */
const ciphered = new WeakSet<ArrayBufferLike>()
/** What sockets read into, with whether it was deciphered from its first byte on. */
const arrived = new WeakMap<ArrayBufferLike, boolean>()

function giveBack(buffer: ArrayBufferLike): void {
  // The new one has no bytes, and the old one loses its own.
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** These bytes are all of their memory. */
function isWhole(bytes: Uint8Array): boolean {
  return bytes.byteLength === bytes.buffer.byteLength
}

function endsItsBuffer({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  return byteOffset + byteLength === buffer.byteLength
}

/** A cipher made these bytes, in memory of their own. */
export function noteCiphered(bytes: Uint8Array): void {
  if (bytes.byteLength >= spentBytesMin && isWhole(bytes)) ciphered.add(bytes.buffer)
}

/** Whether a cipher made these bytes, and `spendSent` would give their memory back. */
export function isCiphered(bytes: Uint8Array): boolean {
  return isWhole(bytes) && ciphered.has(bytes.buffer)
}

/** A socket took what a cipher made, and the system has it. */
export function spendSent(bytes: Uint8Array): void {
  if (isCiphered(bytes) && ciphered.delete(bytes.buffer)) giveBack(bytes.buffer)
}

/**
 * Bytes that came on one stream of Yamux were copied. Where a cipher made nothing else in the same memory, but for the
 * head of their frame, that stream was the only one to use it.
 */
export function spendCopied(bytes: Uint8Array): void {
  if (bytes.byteOffset > yamuxHeadBytes || !endsItsBuffer(bytes)) return
  if (ciphered.delete(bytes.buffer)) giveBack(bytes.buffer)
}

/** A copy that was made for us alone was used; memory that it shares with others stays. */
export function spendLent(bytes: Uint8Array): void {
  if (bytes.byteLength >= spentBytesMin && isWhole(bytes)) giveBack(bytes.buffer)
}

/** A socket read these bytes, into memory of their own; all of them are encrypted frames of one connection. */
export function noteArrived(bytes: Uint8Array): void {
  if (bytes.byteLength >= spentBytesMin && isWhole(bytes)) arrived.set(bytes.buffer, false)
}

/** Somebody holds bytes of this memory for longer. */
export function keepArrived(bytes: Uint8Array): void {
  arrived.delete(bytes.buffer)
}

/**
 * The parts of an encrypted frame were deciphered. A connection's frames come one after another: who is at the end of
 * what was read has used all of it, if the beginning was deciphered too and is not part of a handshake.
 */
export function spendArrived(parts: Iterable<Uint8Array>): void {
  for (const part of parts) {
    const isBegun = arrived.get(part.buffer)
    if (isBegun === undefined) continue
    if (!isBegun && part.byteOffset > noiseHeadBytes) arrived.delete(part.buffer)
    else if (!endsItsBuffer(part)) arrived.set(part.buffer, true)
    else if (arrived.delete(part.buffer)) giveBack(part.buffer)
  }
}

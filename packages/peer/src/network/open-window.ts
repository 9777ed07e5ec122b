import type { Stream } from '@libp2p/interface'

/** What may be on its way on a stream at most: twice Yamux's own 16 MiB, so that a link of 50 ms is full at 200 MB/s with pauses at both ends. */
export const streamWindowBytesMax = 32 * 1024 * 1024

/** What may be on its way on a stream before the other side hears that any of it was read. */
export const firstWindowBytes = 4 * 1024 * 1024

/** What a stream of Yamux has beyond libp2p's interface: what may come before we say more, and the way to say it. */
interface WindowedStream {
  recvWindow: number
  sendWindowUpdate(): void
}

function isWindowed(stream: Stream | (Stream & WindowedStream)): stream is Stream & WindowedStream {
  return 'recvWindow' in stream && typeof stream.recvWindow === 'number' && 'sendWindowUpdate' in stream
}

/**
 * Tells the other side at once that more may come. Yamux begins with 256 KiB and doubles that with each round trip: a
 * link of 50 ms would carry a whole window's worth only after a third of a second. A stream of another kind stays as it is.
 */
export function openWindow(stream: Stream): void {
  if (!isWindowed(stream) || stream.recvWindow >= firstWindowBytes) return
  stream.recvWindow = firstWindowBytes
  stream.sendWindowUpdate()
}

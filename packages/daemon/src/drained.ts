interface Drainable {
  readonly destroyed: boolean
  on(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/** Resolves once a stream takes more, or never will. */
export async function drained(stream: Drainable): Promise<void> {
  if (stream.destroyed) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}

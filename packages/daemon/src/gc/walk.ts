import type { AbortOptions, CID } from '@shardswap/interface'

export interface WalkInit extends AbortOptions {
  readonly roots: Iterable<CID>
  /** Visits that run at once. */
  readonly lanes: number
  /** Whether a CID is to be visited; asked for each root and each link, so it is what keeps a walk from going twice. */
  readonly admit: (cid: CID) => boolean
  /** Reads a block, say; returns its links. */
  readonly visit: (cid: CID) => Promise<readonly CID[]>
}

/**
 * Walks DAGs, the deepest first, with several visits at once. What it holds is
 * the links that are still to be visited: those of the nodes on its way down.
 * Errors: the first one of a visit, once all that run have ended; the signal's reason.
 */
export async function walkDag({ roots, lanes, admit, visit, signal }: WalkInit): Promise<void> {
  const waiting: CID[] = []
  const running = new Set<Promise<void>>()
  const push = (cids: readonly CID[]): void => {
    for (let at = cids.length - 1; at >= 0; at--) {
      const cid = cids[at] as CID
      if (admit(cid)) waiting.push(cid)
    }
  }
  let failure: { readonly error: unknown } | undefined
  const start = (cid: CID): void => {
    const task = visit(cid)
      .then(push)
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => running.delete(task))
    running.add(task)
  }
  push([...roots])
  try {
    while (waiting.length > 0 || running.size > 0) {
      signal?.throwIfAborted()
      while (waiting.length > 0 && running.size < lanes) start(waiting.pop() as CID)
      await Promise.race(running)
      if (failure !== undefined) throw failure.error
    }
  } finally {
    await Promise.all(running)
  }
}

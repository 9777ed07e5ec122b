/** Limits of a peer: names, units, defaults and their reasons. Each has a line in docs/limits.md. */
export interface PeerLimits {
  /** Without progress for so long and without a signal, a want ends with NotFoundError. */
  readonly giveUpMs: number
}
export const defaultLimits: PeerLimits = { giveUpMs: 60_000 }

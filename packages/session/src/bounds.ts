/** How far one answer of a session goes, and what it takes for granted. */

/** Wants looked at for one answer (B26). */
export const stepsMax = 64
/** Peers at which one want is in line. */
export const linesMax = 8
/** A server may answer a want-have with the block itself up to this size (B4): asking several would bring copies. */
export const inlineBytesMax = 1024
/** With so few wants left, and all of them on their way, a fetch may be at its end. */
export const endingWantsMax = 8
/** A peer of which the session knows nothing was asked by chance, or by another session. */
export const unknownHit = 0.5
/** So often a session with wants is looked at, whatever happens. */
export const lookEveryMs = 1000

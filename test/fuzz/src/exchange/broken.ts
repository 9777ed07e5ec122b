/** A promise of the core that was broken. */
export class Broken extends Error {}

/**
 * A module with every kind of export, of which some have no docstring.
 * @packageDocumentation
 */

/** Has one, and so have its parts where they need one. */
export interface Told {
  /** Does something. */
  run(): void
  readonly name: string
}

export interface Untold {
  readonly name: string
}

/** A class whose methods are told by its interface, but for one, and an accessor. */
export class Half implements Told {
  readonly name = 'half'
  run(): void {}
  walk(): void {}
  get legs(): number {
    return 2
  }
}

export interface Derived extends Told {
  readonly more: number
}

/** Has one, but for what it is made of. */
export interface WalkOptions {
  readonly depth?: number
  /** Has one. */
  readonly breadth?: number
}

export const untoldMax = 1

/** Calls {@link Nowhere}. */
export function told(): void {}

export function untold(): void {}

export type Choice = 'a' | 'b'

/** Numbers with a point: JavaScript has one kind of number, IPLD two, and a block's CID depends on which it was. */
import type { DecodeTokenizer } from 'cborg/interface'
import { Token, Type } from 'cborg'
import { CID } from '@shardswap/interface'

/** A number that was written as a float and would read as an integer. */
class WholeFloat {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** Passes tokens on, floats without a fraction as WholeFloat. */
export function keepingFloats(tokens: DecodeTokenizer): DecodeTokenizer {
  return {
    done: () => tokens.done(),
    pos: () => tokens.pos(),
    next: () => {
      const token = tokens.next()
      const value: unknown = token.value
      if (!Type.equals(token.type, Type.float) || !Number.isInteger(value)) return token
      return new Token(token.type, new WholeFloat(value as number), token.encodedLength)
    }
  }
}

/** The token of a WholeFloat; null for every other object, as an encoder of cborg says that it is not meant. */
export function wholeFloatTokens(value: unknown): Token[] | null {
  return value instanceof WholeFloat ? [new Token(Type.float, value.value)] : null
}

/** A value in which each WholeFloat is a number, as JSON writes both alike. */
export function plainNumbers(value: unknown): unknown {
  if (value instanceof WholeFloat) return value.value
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || CID.asCID(value) !== null) return value
  if (Array.isArray(value)) return value.map(plainNumbers)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainNumbers(inner)]))
}

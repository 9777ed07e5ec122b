import type { Outcome } from '../src/check.ts'

/** Inputs that once broke the codec or its checks, and inputs at an edge. */
export const kept: readonly { name: string; hex: string; outcome: Outcome }[] = [
  { name: 'no bytes at all', hex: '', outcome: 'taken' },
  { name: 'a submessage whose last varint runs past its end', hex: '0a02108001', outcome: 'refused' },
  { name: 'a varint of six bytes, that protons would read as one of ten', hex: '28858080808000', outcome: 'taken' }
]

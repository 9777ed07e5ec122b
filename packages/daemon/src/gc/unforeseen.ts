import { randomBytes } from 'node:crypto'
import type { Random } from '@shardswap/interface'

/** Numbers that nobody can foresee. */
export const unforeseen: Random = { next: () => randomBytes(4).readUInt32LE() / 2 ** 32 }

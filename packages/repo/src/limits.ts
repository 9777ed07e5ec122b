/** Limits of the repo. Each has a row in docs/limits.md. */
import { messageBytesMax } from '@shardswap/interface'

/** The layout of the folder that this code writes; it reads those before. Since 2 pins say what stays; under 1 everything did. */
export const repoVersion = 2

/** Blocks up to this many bytes live in LevelDB, larger ones in files of their own. */
export const inlineBytesMax = 16 * 1024

/** The largest block that the store takes, in bytes: nothing larger fits a Bitswap message. */
export const storedBytesMax = messageBytesMax

/** Writes of one `putMany` that run at once. */
export const putManyBlocksMax = 32

/** LevelDB's cache of uncompressed table blocks, in bytes, for each of the two databases. */
export const levelCacheBytes = 8 * 1024 * 1024

/** Table files that LevelDB keeps open, and so maps into memory, per database. */
export const levelFilesMax = 128

/** How long a process that finds the repo locked waits to learn the holder's pid. */
export const holderWaitMs = 2_000

/** How long a change of the config waits for another one to end. */
export const configWaitMs = 5_000

/** Files of blocks that are open at once. */
export const openFilesMax = 64

/** Letters of the API's token: from some 80 bits on nobody guesses it. */
export const apiTokenLettersMin = 16

/** A header of a request has room for so many, and a file that is no token is not taken for one. */
export const apiTokenLettersMax = 512

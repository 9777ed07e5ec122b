/**
 * @packageDocumentation
 * Paths, and files on disk: what commands need before, and often without, any block. It loads in a fraction of the time.
 */
export { type NodeCodecName, nodeCodecNames } from './dag/codec-names.ts'
export * from './errors.ts'
export { walkFiles, type WalkOptions } from './fs/walk.ts'
export { writeTree, type WriteTreeOptions, type WriteTreeResult } from './fs/write-tree.ts'
export { type ContentPath, parseDagPath, parsePath } from './path.ts'

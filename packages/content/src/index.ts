/**
 * @packageDocumentation
 * UnixFS and CAR over any block source: adding, reading, listing, importing
 * and exporting, without knowing where blocks come from or go.
 */
export { exportCar, type CarExportOptions } from './car/export.ts'
export { importCar, type CarImportOptions } from './car/import.ts'
export { linksOf, type Link } from './car/links.ts'
export { decodeValue, encodeValue, isNodeCodec } from './dag/codecs.ts'
export { type Ref, refs, type RefsOptions } from './dag/refs.ts'
export { type ResolvedNode, resolveNode } from './dag/resolve.ts'
export { dagStat, type DagSize, type DagSizes, type DagStatOptions } from './dag/stat.ts'
export * from './disk.ts'
export * as contentLimits from './limits.ts'
export { cat } from './read/cat.ts'
export { type ListOptions, ls, tree, type TreeOptions } from './read/directory.ts'
export { resolve } from './read/resolve.ts'
export type * from './types.ts'
export { add } from './write/add.ts'

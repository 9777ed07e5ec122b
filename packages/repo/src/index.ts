/**
 * @packageDocumentation
 * The folder on disk: blocks, datastore, identity, config, version, and the lock that gives it to one process.
 */
export { ConfigFile, configFile, type ConfigText, configValueOf } from './config/file.ts'
export { type ConfigJson, configOf, defaultConfig, newConfig } from './config/parse.ts'
export { type ConfigKey, configKeys, configTable, type KeySpec } from './config/table.ts'
export { memoryBlockstore } from './blocks/memory-blockstore.ts'
export * from './errors.ts'
export { apiAddress, repoExists } from './folder.ts'
export { repoVersion } from './limits.ts'
export { repoPath } from './files.ts'
export { profileConfig, type ProfileName, profileNames } from './profiles.ts'
export { checkRepo, initRepo, memoryRepo, openRepo } from './open.ts'
export type { InitRepoOptions, OpenRepoOptions } from './repo.ts'
export * from './types.ts'

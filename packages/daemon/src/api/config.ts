import type { ConfigJson } from '@shardswap/repo'

/**
 * The config of a node's repo. What is changed counts from the next start of a node on.
 * Errors: ConfigError, which names the key; then nothing is changed.
 */
export interface NodeConfig {
  /** All values, those left out with their defaults, without what is secret. */
  show(): Promise<ConfigJson>
  /** The value of a key, or those of a section; undefined where it is none. */
  get(key: string): Promise<unknown>
  /** Changes a key; null takes it out, so that it has its default. */
  set(key: string, value: unknown): Promise<void>
  /** Puts another config in its place; what is secret stays where the new one says nothing of it. */
  replace(config: ConfigJson): Promise<void>
}

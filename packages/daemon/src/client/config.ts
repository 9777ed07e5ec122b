import type { ConfigJson } from '@shardswap/repo'
import type { HostPort } from '../address.ts'
import type { NodeConfig } from '../api/config.ts'
import type { ConfigShape } from '../config-shapes.ts'
import { call, json } from './http.ts'
import { uploadOf } from './multipart.ts'

/** The config of a daemon's repo. */
export class RemoteConfig implements NodeConfig {
  readonly #daemon: HostPort

  constructor(daemon: HostPort) {
    this.#daemon = daemon
  }

  async show(): Promise<ConfigJson> {
    return await json<ConfigJson>(await call(this.#daemon, 'config/show', {}))
  }

  async get(key: string): Promise<unknown> {
    const { Value } = await json<ConfigShape>(await call(this.#daemon, 'config', { arg: key }))
    return Value ?? undefined
  }

  async set(key: string, value: unknown): Promise<void> {
    const response = await call(this.#daemon, 'config', { arg: [key, JSON.stringify(value)], json: true })
    response.resume()
  }

  async replace(config: ConfigJson): Promise<void> {
    const response = await call(this.#daemon, 'config/replace', {}, { upload: uploadOf(Buffer.from(JSON.stringify(config))) })
    response.resume()
  }
}

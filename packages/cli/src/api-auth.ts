/** Which token the API takes, as far as the command line and the environment say. */
import { readFile } from 'node:fs/promises'
import { isLoopback, parseMultiaddr } from '@shardswap/daemon'
import { ConfigError, configOf } from '@shardswap/repo'
import { UsageError } from './errors.ts'
import type { GlobalOptions } from './options.ts'

/**
 * The token of `--api-auth`, else of SHARDSWAP_API_AUTH; undefined where neither is there. `@FILE` is the content of a
 * file; Kubo's `bearer:` before it is taken too. Errors: UsageError for what is no token, the system's for the file.
 */
export async function givenToken(
  { apiAuth }: GlobalOptions,
  env: Record<string, string | undefined> = process.env
): Promise<string | undefined> {
  const given = apiAuth ?? env['SHARDSWAP_API_AUTH']
  if (given === undefined) return undefined
  const text = given.startsWith('@') ? (await readFile(given.slice(1), 'utf8')).trim() : given
  const token = text.replace(/^bearer:/i, '')
  try {
    return configOf({ api: { auth: token } }).api.auth
  } catch (error) {
    // Its message would show the token.
    if (error instanceof ConfigError) throw new UsageError('the token of the API is of 16 to 512 letters, digits and signs without spaces')
    throw error
  }
}

/** Refuses an address for the API that others reach, where nobody has to show a token. Errors: UsageError. */
export function checkApi(api: string | undefined, token: string | undefined): void {
  if (api === undefined || token !== undefined || isLoopback(parseMultiaddr(api).getComponents()[0]?.value ?? '')) return
  throw new UsageError(
    `the API has full power over the node: without --api-auth it is on loopback only (/ip4/127.0.0.1/tcp/5001), not at ${api}`
  )
}

/** What can be known of a repo without opening it. */
import { readOptional, repoFiles } from './files.ts'

/** Whether there is a repo at `path`, of whatever version. */
export async function repoExists(path: string): Promise<boolean> {
  return (await readOptional(repoFiles(path).version)) !== undefined
}

/** The multiaddr at which the process that has the repo open answers RPC. It may be left over from one that was killed. */
export async function apiAddress(path: string): Promise<string | undefined> {
  const text = (await readOptional(repoFiles(path).api))?.toString('utf8').trim()
  return text === undefined || text === '' ? undefined : text
}

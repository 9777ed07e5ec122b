import { UnsafePathError } from '../errors.ts'

const windowsReserved = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i
const windowsForbidden = /[<>:"|?*\\\p{Cc}]|[. ]$/u

/**
 * Throws UnsafePathError, naming the entry, unless `name` can be the name of
 * one thing within one folder of the platform at hand.
 */
export function checkName(name: string, path: string, platform: string): void {
  const refuse = (why: string): never => {
    throw new UnsafePathError(`${JSON.stringify(path)} cannot be written: ${why}`)
  }
  if (name === '') refuse('an entry has no name')
  if (name === '.' || name === '..') refuse('its name would lead out of its folder')
  if (name.includes('/')) refuse('its name holds a slash')
  if (name.includes('\0')) refuse('its name holds a NUL')
  if (platform === 'win32' && (windowsForbidden.test(name) || windowsReserved.test(name))) refuse('Windows has no such names')
}

/**
 * Whether a symlink to `target` that lies so many folders below the top of a tree stays within the tree, wherever else
 * in the tree symlinks lie that stay within it too. So `..` may only come first: behind the name of a symlink it would
 * lead out of what that one points to.
 */
export function staysInside(target: string, depth: number, platform: string): boolean {
  const parts = target.split(platform === 'win32' ? /[/\\]/ : '/')
  if (parts[0] === '' || (platform === 'win32' && /^[a-z]:/i.test(target))) return false
  const names = parts.filter((part) => part !== '' && part !== '.')
  const first = names.findIndex((part) => part !== '..')
  const ups = first === -1 ? names.length : first
  return ups <= depth && !names.slice(ups).includes('..')
}

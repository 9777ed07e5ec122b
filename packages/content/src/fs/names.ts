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

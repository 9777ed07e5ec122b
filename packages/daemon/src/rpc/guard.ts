/**
 * Who may call: programs of this machine, pages that the daemon itself served or that the config names, and where there
 * is a token whoever shows it. A page elsewhere can make a browser post to 127.0.0.1, or to a name of its own that it
 * points there (DNS rebinding); it cannot forge `Origin` or `Host`, and it does not know the token.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../address.ts'

export interface GuardInit {
  /** The daemon's port. */
  readonly port: number
  /** The token that callers must show, where there is one. */
  readonly token: string | undefined
  /** Origins of pages that may call. */
  readonly origins: readonly string[]
}

/** Why a request is refused: it shows no token (401), or comes from where it must not (403). */
export interface Refusal {
  readonly status: 401 | 403
  readonly reason: string
}

/** Why a request is refused, or undefined. */
export function refusal(headers: IncomingHttpHeaders, guard: GuardInit): Refusal | undefined {
  const { token, port, origins } = guard
  const strange = strangeness(headers, port, token === undefined, origins)
  if (strange !== undefined) return { status: 403, reason: strange }
  if (token === undefined || showsToken(headers.authorization, token)) return undefined
  return { status: 401, reason: 'the API takes a token: name it with --api-auth, or send "Authorization: Bearer TOKEN"' }
}

/** The origin of a page that is not the daemon's own and may call all the same; it is told so. */
export function foreignOrigin({ origin }: IncomingHttpHeaders, { origins }: GuardInit): string | undefined {
  return origin !== undefined && origins.includes(origin) ? origin : undefined
}

function strangeness(headers: IncomingHttpHeaders, port: number, isLocalOnly: boolean, origins: readonly string[]): string | undefined {
  const host = parse(`http://${headers.host ?? ''}`)
  // Whoever shows the token may call by any name: a page that rebinds a name of its own has none to show.
  if (isLocalOnly && (host === undefined || !isLoopback(host.hostname))) {
    return `the host "${headers.host ?? ''}" is not this machine: call the API at 127.0.0.1, [::1] or localhost`
  }
  const { origin, referer } = headers
  if (origin !== undefined) {
    return origins.includes(origin) || isOwn(origin, port) ? undefined : `requests from the origin "${origin}" are not allowed`
  }
  // Old browsers post a form without an Origin; they still say where it came from.
  if (referer !== undefined && !isOwn(referer, port)) return `requests from the page "${referer}" are not allowed`
  if (referer === undefined && /^mozilla/i.test(headers['user-agent'] ?? '')) return 'requests of a browser need an Origin'
  return undefined
}

/** Takes the same time for every wrong token of a length, so that none can be found out letter by letter. */
function showsToken(authorization: string | undefined, token: string): boolean {
  const [scheme = '', shown = ''] = (authorization ?? '').split(' ')
  return scheme.toLowerCase() === 'bearer' && timingSafeEqual(digest(shown), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isOwn(text: string, port: number): boolean {
  const url = parse(text)
  return url !== undefined && url.protocol === 'http:' && isLoopback(url.hostname) && Number(url.port || '80') === port
}

function parse(text: string): { hostname: string; protocol: string; port: string } | undefined {
  const url = URL.parse(text)
  if (url === null || url.hostname === '') return undefined
  return { hostname: url.hostname.replace(/^\[|\]$/g, ''), protocol: url.protocol, port: url.port }
}

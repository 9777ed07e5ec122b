/**
 * Who may call: programs of this machine, and pages that the daemon itself
 * served. A page elsewhere can make a browser post to 127.0.0.1, or to a name
 * of its own that it points there (DNS rebinding); it cannot forge `Origin` or `Host`.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../address.ts'

/** Why a request is refused, or undefined. `port` is the daemon's. */
export function refusal(headers: IncomingHttpHeaders, port: number): string | undefined {
  const host = parse(`http://${headers.host ?? ''}`)
  if (host === undefined || !isLoopback(host.hostname)) {
    return `the host "${headers.host ?? ''}" is not this machine: call the API at 127.0.0.1, [::1] or localhost`
  }
  const { origin, referer } = headers
  if (origin !== undefined) return isOwn(origin, port) ? undefined : `requests from the origin "${origin}" are not allowed`
  // Old browsers post a form without an Origin; they still say where it came from.
  if (referer !== undefined && !isOwn(referer, port)) return `requests from the page "${referer}" are not allowed`
  if (referer === undefined && /^mozilla/i.test(headers['user-agent'] ?? '')) return 'requests of a browser need an Origin'
  return undefined
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

/** The key of a private network: the file `swarm.key`, in the form that Kubo reads. */
import { SwarmKeyError } from '../errors.ts'

const header = '/key/swarm/psk/1.0.0/'
const keyBytes = 32

const form = `three lines: ${header}, then /base16/, then the key as 64 hexadecimal digits`

/** Newlines of any kind end a line of the head; Kubo takes them so too. */
function headOf(text: Uint8Array): { readonly lines: readonly [string, string]; readonly rest: Uint8Array } {
  const newline = 0x0a
  const first = text.indexOf(newline)
  const second = first < 0 ? -1 : text.indexOf(newline, first + 1)
  const line = (from: number, to: number): string => new TextDecoder().decode(text.subarray(from, to)).replace(/\r+$/, '')
  if (first < 0 || second < 0) return { lines: [line(0, first < 0 ? text.byteLength : first), ''], rest: new Uint8Array() }
  return { lines: [line(0, first), line(first + 1, second)], rest: text.subarray(second + 1) }
}

function keyIn(encoding: string, rest: Uint8Array): Uint8Array {
  if (encoding === '/bin/') return rest
  const digits = new TextDecoder().decode(rest).trim()
  if (encoding === '/base16/' && /^([0-9a-f]{2})*$/i.test(digits)) return Buffer.from(digits, 'hex')
  if (encoding === '/base64/' && /^[0-9a-z+/\s]*=*$/i.test(digits)) return Buffer.from(digits, 'base64')
  const kinds = encoding === '/base16/' || encoding === '/base64/'
  throw new SwarmKeyError(
    kinds
      ? `swarm.key: what follows ${encoding} is not written in that encoding: it must be ${form}`
      : `swarm.key: the second line must be /base16/, /base64/ or /bin/, not ${JSON.stringify(encoding.slice(0, 40))}: it must be ${form}`
  )
}

/** The 32 bytes in a `swarm.key`. Errors: SwarmKeyError, which tells the form. */
export function parseSwarmKey(text: string | Uint8Array): Uint8Array {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const { lines, rest } = headOf(bytes)
  const [name, encoding] = lines
  if (name !== header) {
    const isBare = /^\s*[0-9a-f]{64}\s*$/i.test(new TextDecoder().decode(bytes))
    const what = isBare ? 'is the bare key' : `begins with ${JSON.stringify(name.slice(0, 40))}`
    throw new SwarmKeyError(`swarm.key: the file ${what}, but it must be ${form}`)
  }
  const key = keyIn(encoding, rest)
  if (key.byteLength === keyBytes) return key
  throw new SwarmKeyError(`swarm.key: the key has ${key.byteLength} bytes, not ${keyBytes}: it must be ${form}`)
}

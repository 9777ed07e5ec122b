/** A part of a file, in bytes. */
export interface Part {
  readonly offset: number
  readonly length: number
}

/**
 * What a `Range` header asks of a file of `size` bytes: `all` of it where there is no header, or none that is understood
 * (several parts are not), `none` where the part lies outside.
 */
export function partOf(header: string | undefined, size: number): Part | 'all' | 'none' {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'all'
  // Without a first byte, `last` counts from the end.
  const offset = first === '' ? Math.max(size - Number(last), 0) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size)
  if (first !== '' && last !== '' && Number(last) < offset) return 'all'
  return offset < end ? { offset, length: end - offset } : 'none'
}

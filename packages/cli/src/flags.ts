/** The flags whose absence is not the same as "false". A command that has none of these leaves is told so by the parser. */
const defaultsToTrue: ReadonlySet<string> = new Set(['raw-leaves', 'pin', 'pin-roots', 'recursive', 'unpin', 'size', 'resolve-type'])

/**
 * Kubo's users write `--raw-leaves=false` and `--trickle=true`; the parser knows
 * flags with no value only. What follows `--` is left alone.
 */
export function plainFlags(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const flags = end === -1 ? argv : argv.slice(0, end)
  const plain = flags.flatMap((arg) => {
    const match = /^(?:--([a-z-]+)|-(r))=(true|false)$/.exec(arg)
    if (match === null) return [arg]
    const name = match[1] ?? 'recursive'
    if (match[3] === 'true') return [`--${name}`]
    return defaultsToTrue.has(name) ? [`--no-${name}`] : []
  })
  return end === -1 ? plain : [...plain, ...argv.slice(end)]
}

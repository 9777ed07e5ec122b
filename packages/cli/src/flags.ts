/**
 * Kubo's users write `--raw-leaves=false` and `--trickle=true`; the parser knows
 * flags with no value only. What follows `--` is left alone.
 */
export function plainFlags(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const flags = end === -1 ? argv : argv.slice(0, end)
  const plain = flags.flatMap((arg) => {
    const match = /^--([a-z-]+)=(true|false)$/.exec(arg)
    if (match === null) return [arg]
    if (match[2] === 'true') return [`--${match[1] ?? ''}`]
    // The only flag whose absence is not the same as "false".
    return match[1] === 'raw-leaves' ? ['--no-raw-leaves'] : []
  })
  return end === -1 ? plain : [...plain, ...argv.slice(end)]
}

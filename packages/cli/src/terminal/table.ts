/** Lines of columns as wide as they must be, the head first; those that `isText` names begin at the left, numbers end at the right. */
export function tableLines(head: readonly string[], rows: readonly (readonly string[])[], isText: (column: number) => boolean): string[] {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all.map((row) => {
    const cells = widths.map((width, column) => {
      const cell = row[column] ?? ''
      return isText(column) ? cell.padEnd(width) : cell.padStart(width)
    })
    return cells.join('  ').trimEnd()
  })
}

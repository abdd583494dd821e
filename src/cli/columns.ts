/** Rows of text in columns, for people; numbers to the right where a column says so. */

export interface Column {
  readonly title: string
  readonly align?: 'right'
}

/** Lines without trailing blanks, the titles first. */
export function columns(titles: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = titles.map(({ title }, index) => Math.max(title.length, ...rows.map((row) => (row[index] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    titles
      .map(({ align }, index) => {
        const cell = cells[index] ?? ''
        const width = widths[index] ?? 0
        return align === 'right' ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  return [line(titles.map(({ title }) => title)), ...rows.map(line)]
}

/** Panels as SVG and HTML, near enough to Grafana's to show what the boards say. No Grafana draws here. */

export interface Series {
  readonly name: string
  /** `[seconds, value]`, in time. */
  readonly points: readonly (readonly [number, number])[]
}
export interface Frame {
  readonly width: number
  readonly height: number
  readonly from: number
  readonly to: number
  readonly unit: string
}

const COLORS = ['#73bf69', '#f2cc0c', '#5794f2', '#ff9830', '#f2495c', '#b877d9', '#8ab8ff', '#ffcb7d', '#96d98d', '#fade2a']
const LEFT = 52
const BOTTOM = 18
const LEGEND = 20

export const colorOf = (index: number): string => COLORS[index % COLORS.length] ?? '#fff'
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`)

/** As Grafana's units do it, roughly. */
export function format(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '–'
  const short = (number: number): string => String(Number(number.toPrecision(3)))
  if (unit === 'percentunit') return `${short(value * 100)} %`
  if (unit === 'bool_yes_no') return value > 0 ? 'yes' : 'no'
  if (unit === 'dateTimeFromNow') return `in ${Math.max(0, Math.round((value - Date.now()) / 60_000))} min`
  if (unit === 's')
    return value >= 60 ? `${short(value / 60)} min` : value >= 1 || value === 0 ? `${short(value)} s` : `${short(value * 1_000)} ms`
  if (unit === 'bytes' || unit === 'Bps')
    return (value >= 1_024 ? `${short(value / 1_024)} KiB` : `${short(value)} B`) + (unit === 'Bps' ? '/s' : '')
  return short(value) + (unit === 'cps' ? '/s' : '')
}

export function drawLines(all: readonly Series[], isStacked: boolean, frame: Frame): string {
  const series = isStacked ? stack(all) : all
  const top = Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)), 0)
  const max = top === 0 ? 1 : top * 1.08
  const { x, y } = scales(frame, max)
  const floor = y(0)
  const drawn = series.map(({ points }, index) => {
    const first = points[0]
    const last = points.at(-1)
    if (first === undefined || last === undefined) return ''
    const path = points.map(([at, value], n) => `${n === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('')
    const area = `${path}L${x(last[0]).toFixed(1)} ${floor}L${x(first[0]).toFixed(1)} ${floor}Z`
    const fill = `<path d="${area}" fill="${colorOf(index)}" opacity="${isStacked ? 0.45 : 0.08}"/>`
    return `${fill}<path d="${path}" fill="none" stroke="${colorOf(index)}" stroke-width="1.4"/>`
  })
  // The highest of a stack is drawn first, so that those below stay seen.
  return svg(
    frame,
    axis(frame, max) +
      (isStacked ? drawn.toReversed() : drawn).join('') +
      legend(
        all.map(({ name }) => name),
        frame,
      ),
  )
}

function stack(series: readonly Series[]): Series[] {
  const sums = new Map<number, number>()
  return series.map(({ name, points }) => ({
    name,
    points: points.map(([at, value]) => {
      const sum = (sums.get(at) ?? 0) + (Number.isFinite(value) ? value : 0)
      sums.set(at, sum)
      return [at, sum] as const
    }),
  }))
}

/** One series per bucket, each holding all that is under its edge. */
export function drawHeat(buckets: readonly Series[], frame: Frame): string {
  const sorted = [...buckets].sort((a, b) => edgeOf(a) - edgeOf(b))
  const cells = sorted.flatMap(({ points }, row) =>
    points.map(([at, value], n) => ({ at, row, count: Math.max(0, value - (row === 0 ? 0 : (sorted[row - 1]?.points[n]?.[1] ?? 0))) })),
  )
  const used = cells.filter(({ count }) => count > 0.001).map(({ row }) => row)
  const [low, high] =
    used.length === 0 ? [0, sorted.length - 1] : [Math.max(0, Math.min(...used) - 1), Math.min(sorted.length - 1, Math.max(...used) + 1)]
  const rows = high - low + 1
  const { x } = scales(frame, 1)
  const heightOf = (frame.height - BOTTOM - LEGEND) / rows
  const most = Math.max(...cells.map(({ count }) => count), 1e-9)
  const columns = Math.max(1, sorted[0]?.points.length ?? 1)
  const width = (frame.width - LEFT - 8) / columns + 0.5
  const rects = cells
    .filter(({ count, row }) => count > 0.001 && row >= low && row <= high)
    .map(({ at, row, count }) => {
      const top = (high - row) * heightOf
      return `<rect x="${x(at).toFixed(1)}" y="${top.toFixed(1)}" width="${width.toFixed(1)}" height="${(heightOf - 1).toFixed(1)}" fill="#ff9830" opacity="${(0.15 + 0.85 * Math.sqrt(count / most)).toFixed(2)}"/>`
    })
  const labels = sorted.slice(low, high + 1).map((each, n) => {
    const edge = edgeOf(each)
    return rows > 12 && n % 2 === 1 ? '' : text(LEFT - 5, (rows - n - 0.3) * heightOf, Number.isFinite(edge) ? `${edge} s` : '∞', 'end')
  })
  return svg(frame, labels.join('') + rects.join('') + times(frame))
}
const edgeOf = ({ name }: Series): number => (name === '+Inf' ? Infinity : Number(name))

export function drawTimeline(series: readonly Series[], frame: Frame): string {
  const { x } = scales(frame, 1)
  const height = Math.min(44, (frame.height - BOTTOM - 8) / Math.max(1, series.length))
  const rows = series.map(({ name, points }, row) => {
    const bars = points.map(([at, value], n) => {
      const next = points[n + 1]?.[0] ?? frame.to
      return value > 0
        ? `<rect x="${x(at).toFixed(1)}" y="${row * height + 4}" width="${(x(next) - x(at) + 0.5).toFixed(1)}" height="${height - 8}" fill="#ff9830"/>`
        : ''
    })
    return bars.join('') + text(LEFT + 4, row * height + height / 2 + 4, name, 'start', '#fff')
  })
  return svg(frame, rows.join('') + times(frame))
}

const scales = ({ width, height, from, to }: Frame, max: number) => ({
  x: (at: number): number => LEFT + ((at - from) / (to - from)) * (width - LEFT - 8),
  y: (value: number): number => (height - BOTTOM - LEGEND) * (1 - (Number.isFinite(value) ? value : 0) / max) + 4,
})

function axis(frame: Frame, max: number): string {
  const { y } = scales(frame, max)
  const lines = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = y(part * max)
    return `<line x1="${LEFT}" x2="${frame.width - 8}" y1="${at}" y2="${at}" stroke="#2c3235"/>${text(LEFT - 5, at + 4, format(part * max, frame.unit), 'end')}`
  })
  return lines.join('') + times(frame)
}

function times(frame: Frame): string {
  const { x } = scales(frame, 1)
  const marks = [0.1, 0.35, 0.6, 0.85].map((part) => frame.from + part * (frame.to - frame.from))
  return marks.map((at) => text(x(at), frame.height - LEGEND + 2, new Date(at * 1_000).toISOString().slice(11, 19), 'middle')).join('')
}

function legend(names: readonly string[], { width, height }: Frame): string {
  let x = LEFT
  return names
    .map((name, index) => {
      const shown = name.length > 30 ? `${name.slice(0, 29)}…` : name
      const at = x
      x += shown.length * 6.1 + 22
      if (x > width) return ''
      return `<rect x="${at}" y="${height - 9}" width="10" height="3" fill="${colorOf(index)}"/>${text(at + 14, height - 4, shown, 'start')}`
    })
    .join('')
}

const text = (x: number, y: number, what: string, anchor: string, fill = '#9fa7b3'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="11" text-anchor="${anchor}" fill="${fill}">${escapeHtml(what)}</text>`
const svg = ({ width, height }: Frame, inner: string): string =>
  `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">${inner}</svg>`

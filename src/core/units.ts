/** Durations and sizes as users write them: `250ms`, `1m30s`, `24h`; `4096B`, `4KiB`, a bare number of bytes. */

const MS_PER: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const BYTES_PER: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
  kB: 1_000,
  KB: 1_000,
  MB: 1_000_000,
  GB: 1_000_000_000,
}

/** Milliseconds, or null where `text` is no duration with units. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return null
  let sum = 0
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h|d)/g)) sum += Number(amount) * (MS_PER[unit ?? ''] ?? Number.NaN)
  return sum
}

/** Bytes, or null where `text` is no size. */
export function parseSize(text: string): number | null {
  const found = /^(\d+(?:\.\d+)?)\s?(B|KiB|MiB|GiB|kB|KB|MB|GB)?$/.exec(text)
  if (found === null) return null
  return Math.round(Number(found[1]) * (BYTES_PER[found[2] ?? 'B'] ?? Number.NaN))
}

/** The shortest exact way to write it: `1m30s`, `29.5s`, `250ms`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s'
  if (ms < 1_000) return `${ms}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = Number(((ms % 60_000) / 1_000).toFixed(3))
  return `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${seconds > 0 ? `${seconds}s` : ''}`
}

/** The shortest exact way to write it: `1MiB`, `4KiB`, `1000B`. */
export function formatSize(bytes: number): string {
  for (const unit of ['GiB', 'MiB', 'KiB']) {
    const size = BYTES_PER[unit] ?? Number.NaN
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`
  }
  return `${bytes}B`
}

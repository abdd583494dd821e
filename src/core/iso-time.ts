/** Unix milliseconds as `2026-11-29T10:00:00.000Z`, by arithmetic alone: the core knows no clock. */

/** Years 1970 to 9999. */
export function isoOf(wallMs: number): string {
  const ms = Math.floor(wallMs)
  const days = Math.floor(ms / 86_400_000)
  const { year, month, day } = dateOf(days)
  const rest = ms - days * 86_400_000
  const clock = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1_000) % 60].map((part) => padded(Math.floor(part), 2)).join(':')
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${clock}.${padded(rest % 1_000, 3)}Z`
}

const padded = (value: number, width: number): string => String(value).padStart(width, '0')

/** Days since 1970-01-01 → date. Years are taken to begin in March, so that the leap day comes last. */
function dateOf(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1 }
}

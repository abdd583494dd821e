/** Unix milliseconds as `2026-11-29T10:00:00.000Z`, by arithmetic alone: the core knows no clock. */

/** All but the milliseconds of the second told last: a busy process tells thousands of the same. */
const latest = { second: Number.NaN, text: '' }

/** Years 1970 to 9999. */
export function isoOf(wallMs: number): string {
  const ms = Math.floor(wallMs)
  const second = Math.floor(ms / 1_000)
  if (second !== latest.second) {
    latest.text = textOfSecond(second)
    latest.second = second
  }
  const rest = ms - second * 1_000
  return `${latest.text}${rest < 10 ? '.00' : rest < 100 ? '.0' : '.'}${rest}Z`
}

/** `2026-11-29T10:00:00` */
function textOfSecond(second: number): string {
  const days = Math.floor(second / 86_400)
  const { year, month, day } = dateOf(days)
  const rest = second - days * 86_400
  const clock = [rest / 3_600, (rest / 60) % 60, rest % 60].map((part) => padded(Math.floor(part), 2)).join(':')
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${clock}`
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

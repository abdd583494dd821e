/** What an SSE event says, read from its mark only when somebody asks, and then once. */
import type { EventMark } from './signal.ts'

export type Meaning =
  | { readonly is: 'comment' } // no data: nothing is dispatched
  | { readonly is: 'progress' }
  | { readonly is: 'result'; readonly id: unknown }
  | { readonly is: 'request' }
  | { readonly is: 'notification' }
  | { readonly is: 'other' }

const read = new WeakMap<EventMark, Meaning>()
const tooLong: Meaning = { is: 'other' }

export function meaningOf(mark: EventMark): Meaning {
  let meaning = read.get(mark)
  if (meaning === undefined) {
    meaning = mark.isTooLong ? tooLong : readData(dataOf(mark))
    read.set(mark, meaning)
  }
  return meaning
}

export const isEvent = (mark: EventMark): boolean => meaningOf(mark).is !== 'comment'

export function dataOf({ earlier, bytes }: EventMark): string | null {
  const text = new TextDecoder().decode(earlier === null ? bytes : concat([...earlier, bytes]))
  const data: string[] = []
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === 'data') data.push('')
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
  }
  return data.length === 0 ? null : data.join('\n')
}

function readData(data: string | null): Meaning {
  if (data === null) return { is: 'comment' }
  let message: unknown
  try {
    message = JSON.parse(data)
  } catch {
    return { is: 'other' }
  }
  if (typeof message !== 'object' || message === null) return { is: 'other' }
  const { method, id, result, error } = message as Record<'method' | 'id' | 'result' | 'error', unknown>
  if (method === 'notifications/progress') return { is: 'progress' }
  if (typeof method === 'string') return { is: id === undefined ? 'notification' : 'request' }
  return result !== undefined || error !== undefined ? { is: 'result', id } : { is: 'other' }
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

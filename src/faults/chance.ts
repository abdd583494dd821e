/** Repeatable chance: drawn from what a call is, never from when it came. */
import type { RpcRequest } from '../core/mcp/ask.ts'

/** A number in [0, 1) that depends on every part. */
export function drawOf(...parts: readonly (string | number)[]): number {
  return hash53(parts.join('\u0000')) / 2 ** 53
}

/** A stream of numbers in [0, 1): for the jitter of one seat in one exchange. */
export function randomOf(...parts: readonly (string | number)[]): () => number {
  const text = parts.join('\u0000')
  let turn = 0
  return () => {
    turn += 1
    return hash53(`${text}\u0000${turn}`) / 2 ** 53
  }
}

/**
 * What makes two calls the same: method, tool and parameters, without the id and `_meta`, whatever the order of keys.
 * `bodyText` null: the head is all there is.
 */
export function callKey(httpMethod: string, requests: readonly RpcRequest[], bodyText: string | null): string {
  const said = requests.map(({ method, tool }) => `${method} ${tool ?? ''}`).join(',')
  return `${httpMethod} ${said} ${bodyText === null ? '' : hash53(paramsOf(bodyText))}`
}

function paramsOf(bodyText: string): string {
  let message: unknown
  try {
    message = JSON.parse(bodyText)
  } catch {
    return bodyText
  }
  return (Array.isArray(message) ? message : [message]).map(paramsOfOne).join('\n')
}

function paramsOfOne(message: unknown): string {
  if (typeof message !== 'object' || message === null) return canonical(message)
  const { method, params } = message as { method?: unknown; params?: unknown }
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return canonical([method, params])
  const { _meta: _, ...rest } = params as Record<string, unknown>
  return canonical([method, rest])
}

function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) => {
      if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
      return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
    }) ?? ''
  )
}

/** 53 bits of a text (cyrb53): quick and well spread; nothing secret hangs on it. */
export function hash53(text: string): number {
  let h1 = 0xdeadbeef
  let h2 = 0x41c6ce57
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    h1 = Math.imul(h1 ^ code, 2654435761)
    h2 = Math.imul(h2 ^ code, 1597334677)
  }
  h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909)
  h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909)
  return 4294967296 * (2097151 & h2) + (h1 >>> 0)
}

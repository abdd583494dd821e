/** Single values as users write them, in a flag, the environment or a file: each is read, or refused with what was expected. */
import { isIPv6 } from 'node:net'
import { nearest } from '../core/suggest.ts'
import { parseDuration, parseSize } from '../core/units.ts'
import type { Address } from './snapshot.ts'

/** `problem` reads `expected …, got …`, with the remedy where there is one. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string }
export type Parse<T> = (text: string) => Parsed<T>

const read = <T>(value: T): Parsed<T> => ({ ok: true, value })

/** `remedy` is what to do about it, without a full stop. */
export function refuse(expected: string, got: string, remedy = ''): { readonly ok: false; readonly problem: string } {
  const shown = got === '' ? 'nothing' : /^\d+(\.\d+)?$/.test(got) ? got : JSON.stringify(got)
  return { ok: false, problem: `expected ${expected}, got ${shown}${remedy === '' ? '' : `: ${remedy}`}` }
}

const PORT_MAX = 65_535
const ADDRESS = 'an address such as 127.0.0.1:8080, :8080 or [::1]:8080'

/** `host:port`, `[v6]:port`, or `:port` for all interfaces; port 0 lets the system choose. */
export const parseAddress: Parse<Address> = (text) => {
  if (/^\d+$/.test(text)) return refuse(ADDRESS, text, `write 127.0.0.1:${text}`)
  if (/^https?:\/\//.test(text)) return refuse(ADDRESS, text, 'leave the scheme out')
  const found = /^(?:\[([^\]]*)\]|([^\s:/[\]@]*)):(\d{1,5})$/.exec(text)
  if (found === null) {
    if (/^[^\s:/]+$/.test(text)) return refuse(ADDRESS, text, 'the port is missing')
    return refuse(ADDRESS, text, (text.match(/:/g) ?? []).length > 1 ? 'put an IPv6 host in brackets' : '')
  }
  if (found[1] !== undefined && !isIPv6(found[1])) return refuse(ADDRESS, text, 'what is in brackets is no IPv6 host')
  const port = Number(found[3])
  if (port > PORT_MAX) return refuse(ADDRESS, text, `a port is ${PORT_MAX} at most`)
  return read({ host: found[1] ?? (found[2] === '' ? '0.0.0.0' : (found[2] ?? '')), port })
}

/** As `parseAddress`, or `none` for off. */
export const parseAddressOrNone: Parse<Address | null> = (text) => (text === 'none' ? read(null) : parseAddress(text))

export const formatAddress = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Reachable from this machine only. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(host)

const ORIGIN = 'an origin such as http://127.0.0.1:3000'

/** An http(s) URL without a path: what the client asks for is passed on as it is. */
export const parseOrigin: Parse<URL> = (text) => {
  const url = parseHttpUrl(text, ORIGIN)
  if (!url.ok) return url
  const { username, password, pathname, search, hash } = url.value
  if (username !== '' || password !== '') {
    // Never repeated: it may be a secret.
    return refuse(
      ORIGIN,
      `${url.value.protocol}//…@${url.value.host}`,
      "leave the credentials out, the client's Authorization is passed on",
    )
  }
  if (pathname !== '/' || search !== '' || hash !== '') {
    return refuse(
      ORIGIN,
      text,
      `leave "${pathname === '/' ? '' : pathname}${search}${hash}" out, the client's path is passed on (write ${url.value.origin})`,
    )
  }
  return url
}

/** An http(s) URL, path allowed. */
export const parseUrl: Parse<URL> = (text) => parseHttpUrl(text, 'a URL such as http://127.0.0.1:4318')

function parseHttpUrl(text: string, expected: string): Parsed<URL> {
  if (text === '') return refuse(expected, text)
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return refuse(expected, text, `write http://${text.replace(/^\/+/, '')}`)
  if (!/^https?:/i.test(text)) return refuse(expected, text, 'http and https only')
  return URL.canParse(text) ? read(new URL(text)) : refuse(expected, text)
}

/** Milliseconds, of a duration of at least `minMs`. */
export const durationOf =
  (minMs = 0): Parse<number> =>
  (text) => {
    const expected = 'a duration such as 250ms, 60s or 1m30s'
    const ms = parseDuration(text)
    if (ms === null) return refuse(expected, text, durationRemedy(text))
    return ms < minMs ? refuse(`a duration of at least ${minMs}ms`, text) : read(ms)
  }

function durationRemedy(text: string): string {
  if (/^\d+(\.\d+)?$/.test(text)) return `a number needs a unit, write ${text}s or ${text}ms`
  return text.startsWith('-') && parseDuration(text.slice(1)) !== null ? 'it cannot be below 0' : ''
}

/** Bytes. */
export const parseSizeValue: Parse<number> = (text) => {
  const bytes = parseSize(text)
  return bytes === null ? refuse('a size such as 4096B, 4KiB or 100MiB', text) : read(bytes)
}

/** A whole number from 0 to `max`. */
export const wholeNumberOf =
  (max: number): Parse<number> =>
  (text) =>
    /^\d{1,16}$/.test(text) && Number(text) <= max ? read(Number(text)) : refuse(`a whole number from 0 to ${max}`, text)

/** One of a closed set, with the nearest as the remedy. */
export const choiceOf =
  <T extends string>(choices: readonly T[]): Parse<T> =>
  (text) => {
    const found = choices.find((choice) => choice === text)
    if (found !== undefined) return read(found)
    const meant = nearest(text, choices)
    return refuse(choices.join(' or '), text, meant === null ? '' : `did you mean ${meant}?`)
  }

export const parseFile: Parse<string> = (text) => (text === '' ? refuse('a file', text) : read(text))

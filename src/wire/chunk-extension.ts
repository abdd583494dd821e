/** The extensions behind a chunk's size: read to their end, checked, and dropped (RFC 9112 §7.1.1). */
import { CR, SP, TAB, TOKEN } from './wire-bytes.ts'

/** Of one chunk. */
export const EXTENSION_BYTES_MAX = 16_384

export const EXTENSION_START = 0
const NAME = 1
const VALUE = 2
const QUOTED = 3
const QUOTED_PAIR = 4
const QUOTED_END = 5
/** Its CR was read. */
export const EXTENSION_END = 6
export const NO_EXTENSION = -1

const SEMICOLON = 0x3b
const EQUALS = 0x3d
const QUOTE = 0x22
const BACKSLASH = 0x5c

const isText = (code: number): boolean => code === TAB || (code >= SP && code !== 0x7f)

/** The state after this byte; `NO_EXTENSION`: it may not stand here. */
export function afterByte(state: number, code: number): number {
  switch (state) {
    case EXTENSION_START:
      return code === SP || code === CR ? NO_EXTENSION : afterByte(NAME, code)
    case NAME:
      if (TOKEN[code] === 1) return NAME
      return code === EQUALS ? VALUE : endOf(code)
    case VALUE:
      if (code === QUOTE) return QUOTED
      return TOKEN[code] === 1 ? VALUE : endOf(code)
    case QUOTED:
      if (code === QUOTE) return QUOTED_END
      if (code === BACKSLASH) return QUOTED_PAIR
      return isText(code) ? QUOTED : NO_EXTENSION
    case QUOTED_PAIR:
      return isText(code) ? QUOTED : NO_EXTENSION
    default:
      return endOf(code)
  }
}

const endOf = (code: number): number => (code === SEMICOLON ? EXTENSION_START : code === CR ? EXTENSION_END : NO_EXTENSION)

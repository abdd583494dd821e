/** The bytes that HTTP/1.1 knows by name, and which may stand where (RFC 9110 §5.5 and §5.6.2). */

export const TAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SP = 0x20
export const COLON = 0x3a

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

const tableOf = (isIn: (code: number) => boolean): Uint8Array => Uint8Array.from({ length: 256 }, (_, code) => (isIn(code) ? 1 : 0))

const TOKEN_MARKS = "!#$%&'*+-.^_`|~"
/** 1 where a byte may stand in a token. */
export const TOKEN = tableOf((code) => /[0-9A-Za-z]/.test(String.fromCharCode(code)) || TOKEN_MARKS.includes(String.fromCharCode(code)))
/** 1 where a byte may stand in a field's value. */
export const VALUE = tableOf((code) => code === TAB || (code >= SP && code !== 0x7f))
/** A hex digit's value; 255: none. */
export const HEX = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = String.fromCharCode(code)
  return /[0-9A-Fa-f]/.test(digit) ? Number.parseInt(digit, 16) : 255
})

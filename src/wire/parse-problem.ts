/** Why bytes are no answer, in the codes and words of Node's own parser: whoever reads a log meets one language. */

export interface ParseProblem {
  readonly code: string
  readonly reason: string
}

const TOKEN_CODE = 'HPE_INVALID_HEADER_TOKEN'
const SIZE_CODE = 'HPE_INVALID_CHUNK_SIZE'
const LENGTH_CODE = 'HPE_INVALID_CONTENT_LENGTH'
const CODING_CODE = 'HPE_INVALID_TRANSFER_ENCODING'

export const problems = {
  protocol: { code: 'HPE_INVALID_CONSTANT', reason: 'Expected HTTP/' },
  version: { code: 'HPE_INVALID_VERSION', reason: 'Invalid HTTP version' },
  status: { code: 'HPE_INVALID_STATUS', reason: 'Invalid status code' },
  spaceAfterLine: { code: 'HPE_UNEXPECTED_SPACE', reason: 'Unexpected space after start line' },
  token: { code: TOKEN_CODE, reason: 'Invalid header token' },
  value: { code: TOKEN_CODE, reason: 'Invalid header value char' },
  folded: { code: TOKEN_CODE, reason: 'Unexpected whitespace after header value' },
  crExpected: { code: 'HPE_CR_EXPECTED', reason: 'Missing expected CR before LF' },
  lfExpected: { code: 'HPE_LF_EXPECTED', reason: 'Missing expected LF after CR' },
  headTooLong: { code: 'HPE_HEADER_OVERFLOW', reason: 'Header overflow' },
  length: { code: LENGTH_CODE, reason: 'Invalid Content-Length' },
  lengthTwice: { code: 'HPE_UNEXPECTED_CONTENT_LENGTH', reason: 'Duplicate Content-Length' },
  lengthWithCoding: { code: LENGTH_CODE, reason: "Content-Length can't be present with Transfer-Encoding" },
  codingWithLength: { code: CODING_CODE, reason: "Transfer-Encoding can't be present with Content-Length" },
  noCoding: { code: CODING_CODE, reason: 'Empty Transfer-Encoding' },
  chunkSize: { code: SIZE_CODE, reason: 'Invalid character in chunk size' },
  chunkTooLarge: { code: SIZE_CODE, reason: 'Chunk size overflow' },
  chunkEnd: { code: 'HPE_STRICT', reason: 'Expected CRLF after chunk data' },
  extension: { code: 'HPE_STRICT', reason: 'Invalid character in chunk extensions' },
  extensionTooLong: { code: 'HPE_CHUNK_EXTENSIONS_OVERFLOW', reason: 'Chunk extensions overflow' },
  afterClose: { code: 'HPE_CLOSED_CONNECTION', reason: 'Data after `Connection: close`' },
} satisfies Record<string, ParseProblem>

/** As Node's client throws it. */
export const errorOf = ({ code, reason }: ParseProblem): Error => Object.assign(new Error(`Parse Error: ${reason}`), { code })

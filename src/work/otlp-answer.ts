/** What an OTLP exporter is answered, in the encoding it speaks: success, partial success, or a status with its reason. */
import { BinaryWriter } from '@bufbuild/protobuf/wire'

export type OtlpEncoding = 'protobuf' | 'json'
export const CONTENT_TYPE: Readonly<Record<OtlpEncoding, string>> = { protobuf: 'application/x-protobuf', json: 'application/json' }

/** An Export…ServiceResponse. `rejected` of 0 and no message: the empty one. The shape is the same for traces, metrics and logs. */
export function successBody(encoding: OtlpEncoding, rejected: number, message: string): Uint8Array {
  const isWhole = rejected === 0 && message === ''
  if (encoding === 'json') {
    // 64-bit numbers are text in OTLP/JSON.
    const partial = isWhole ? {} : { partialSuccess: { rejectedSpans: String(rejected), errorMessage: message } }
    return Buffer.from(JSON.stringify(partial))
  }
  if (isWhole) return new Uint8Array(0)
  const partial = new BinaryWriter()
  if (rejected > 0) partial.uint32((1 << 3) | 0).int64(rejected)
  if (message !== '') partial.uint32((2 << 3) | 2).string(message)
  return new BinaryWriter()
    .uint32((1 << 3) | 2)
    .bytes(partial.finish())
    .finish()
}

/** A google.rpc.Status; `code`: gRPC's number. */
export function statusBody(encoding: OtlpEncoding, code: number, message: string): Uint8Array {
  if (encoding === 'json') return Buffer.from(JSON.stringify({ code, message }))
  return new BinaryWriter()
    .uint32((1 << 3) | 0)
    .int32(code)
    .uint32((2 << 3) | 2)
    .string(message)
    .finish()
}

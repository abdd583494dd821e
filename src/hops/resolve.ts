/** A hop's file → the hop as the line plays it: changes laid over, defaults filled in, what cannot be played told. */
import type { Answer } from '../core/answer.ts'
import { formatDuration } from '../core/units.ts'
import type { Buffering, BufferMode, Hop, Limit } from './hop.ts'
import type { AnswerFile, HopFile } from './hop-schema.ts'
import type { Problem } from './shape.ts'

/** `with: { idle: { after: 20s } }` changes only `after`; lists and single words are replaced whole. */
export function overrideHop(file: HopFile, changes: HopFile): HopFile {
  return merge(file, changes) as HopFile
}

function merge(below: unknown, above: unknown): unknown {
  if (above === undefined) return below
  if (!isObject(below) || !isObject(above)) return above
  const merged: Record<string, unknown> = { ...below }
  for (const [key, value] of Object.entries(above)) merged[key] = merge(below[key], value)
  return merged
}
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a hop still lacks to be played, after `with:` was laid over it. Shape errors are the schema's. */
export function hopProblems(file: HopFile): readonly Problem[] {
  const problems: Problem[] = []
  for (const limit of ['connect', 'headers', 'idle', 'total', 'clientSend'] as const) {
    const fields = file[limit]
    if (fields === undefined || fields === 'none') continue
    if (fields.after === undefined)
      problems.push({ path: [limit, 'after'], message: 'expected a duration such as "60s", or none, got nothing' })
  }
  const { buffering } = file
  if (typeof buffering === 'object') {
    if (buffering.mode === 'bytes' && (buffering.size ?? 0) <= 0)
      problems.push({ path: ['buffering', 'size'], message: 'mode bytes needs the size of a page, such as "4KiB"' })
    if (buffering.mode === 'time' && (buffering.every ?? 0) <= 0)
      problems.push({ path: ['buffering', 'every'], message: 'mode time needs how long it holds, such as "200ms"' })
  }
  return problems
}

/** `name` is unique in its path (`path[1]:nginx`); `preset` is the file's, or `custom`, which does nothing that is not said. */
export function resolveHop(file: HopFile, { name, preset }: { name: string; preset: string }): Hop {
  const limit = (
    fields: Exclude<HopFile['idle'] | HopFile['total'] | HopFile['headers'], 'none' | undefined>,
    afterMs: number,
    what: string,
  ): Limit => ({
    afterMs,
    answer: answerOf(fields.answer, 504, `${what} of ${formatDuration(afterMs)} reached`),
    ending: fields.ending ?? 'fin',
    upstream: fields.upstream ?? 'fin',
  })
  const answerOf = (answer: AnswerFile | undefined, status: number, why: string): Answer | null =>
    answer === 'none' ? null : resolveAnswer(answer ?? {}, status, `${preset}: ${why}`)
  const { connect, headers, idle, total, clientSend } = file
  const hop: { -readonly [Key in keyof Hop]: Hop[Key] } = { name, preset }
  if (isOn(connect)) hop.connect = { afterMs: connect.after, answer: answerOf(connect.answer, 504, 'connecting took too long') }
  if (isOn(headers)) hop.headers = limit(headers, headers.after, 'header limit')
  else if (headers !== undefined) hop.headers = 'none'
  if (isOn(idle)) {
    const { counts = 'bytes', direction = 'response', rearm = 0 } = idle
    hop.idle = { ...limit(idle, idle.after, 'idle limit'), counts, direction, rearmMs: rearm }
  }
  if (isOn(total)) {
    const { from = 'request', at = 'deadline' } = total
    hop.total = { ...limit(total, total.after, 'limit'), from, at }
  }
  if (isOn(clientSend))
    hop.clientSend = { afterMs: clientSend.after, ending: clientSend.ending ?? 'fin', upstream: clientSend.upstream ?? 'fin' }
  return Object.assign(hop, resolveManners(file, preset, answerOf))
}

type AnswerOf = (answer: AnswerFile | undefined, status: number, why: string) => Answer | null

function resolveManners(file: HopFile, preset: string, answerOf: AnswerOf): Partial<Hop> {
  // A file that is silent about them means what HTTP proxies do; `custom` means nothing.
  const isSilentOff = preset === 'custom'
  const abort = file.clientAbort ?? (isSilentOff ? 'none' : {})
  const loss = file.upstreamLoss ?? (isSilentOff ? 'none' : {})
  const { buffering, request } = file
  return {
    ...(typeof buffering === 'object' ? { buffering: resolveBuffering(buffering) } : {}),
    ...(typeof abort === 'object'
      ? {
          clientAbort: {
            midStream: abort.midStream ?? 'at-once',
            beforeHeaders: abort.beforeHeaders ?? 'at-once',
            halfClose: abort.halfClose ?? 'abort',
            upstream: abort.upstream ?? 'fin',
          },
        }
      : {}),
    ...(typeof loss === 'object'
      ? {
          upstreamLoss: {
            ...(loss.refused === undefined ? {} : { refused: answerOf(loss.refused, 502, 'the server refused the connection') }),
            beforeHeaders: answerOf(loss.beforeHeaders, 502, 'the server was lost before it answered'),
            midStream: { fin: loss.midStream?.fin ?? 'truncate', rst: loss.midStream?.rst ?? 'truncate' },
          },
        }
      : {}),
    ...(typeof request === 'object'
      ? {
          request: {
            buffer: request.buffer ?? false,
            bodyMaxBytes: typeof request.bodyMax === 'number' ? request.bodyMax : null,
            retry: typeof request.retry === 'object' ? request.retry : null,
          },
        }
      : {}),
  }
}

const PAGE_BYTES = 4_096

function resolveBuffering(fields: Exclude<HopFile['buffering'], 'none' | undefined>): Buffering {
  const { mode = 'none', size = PAGE_BYTES, every = 0, gzip = 'held', holdHeaders = false, atCut = 'flush', honours = [], sized } = fields
  const played: BufferMode = mode === 'bytes' ? { bytes: size } : mode === 'time' ? { everyMs: every } : mode === 'gzip' ? { gzip } : mode
  const pages = sized === undefined ? {} : { sized: { bytes: sized.size ?? PAGE_BYTES, atCut: sized.atCut ?? atCut } }
  return { mode: played, holdHeaders, atCut, honours, ...pages }
}

/** A body that is not given says in one line who gave up, and why. */
function resolveAnswer(answer: Exclude<AnswerFile, 'none'>, status: number, why: string): Answer {
  const { body, contentType, headers = {}, connection, reason = '' } = answer
  const code = answer.status ?? status
  const type = contentType ?? (body === undefined ? 'text/plain; charset=utf-8' : null)
  const rawHeaders = Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]))
  return {
    status: code,
    reason,
    rawHeaders: type === null ? rawHeaders : ['Content-Type', type, ...rawHeaders],
    body: body ?? `${code} by ${why}\n`,
    ...(connection === undefined ? {} : { connection }),
  }
}

function isOn<Fields extends { readonly after?: number | 'none' | undefined }>(
  fields: Fields | 'none' | undefined,
): fields is Fields & { readonly after: number } {
  return typeof fields === 'object' && typeof fields.after === 'number'
}

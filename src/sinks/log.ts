/** The log: pino's lines as JSON for machines, or as one plain line each for people. Written at once, so that none is lost. */
import { pino } from 'pino'
import type { Log, LogFields } from '../core/log.ts'
import { silentLog } from '../core/log.ts'

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly format: 'text' | 'json'
  /** Takes whole lines, each with its newline. */
  write(line: string): void
}

export function createLog({ level, format, write }: LogOptions): Log {
  if (level === 'silent') return silentLog
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: format === 'json' ? write : (line) => write(`${textOf(line)}\n`) },
  )
  const say =
    (verb: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void =>
      logger[verb](fields, message)
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
}

/** `10:00:00.000 warn  the message  key=value`, on one line whatever the values hold. */
function textOf(line: string): string {
  const { level, time, message, ...fields } = JSON.parse(line) as Record<string, unknown>
  const at = String(time).slice(11, 23)
  const told = Object.entries(fields).map(([key, value]) => `${key}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`)
  return [at, String(level).padEnd(5), oneLine(String(message)), ...told].join(' ')
}

const quoted = (value: string): string => (/^[^\s"=]+$/.test(value) ? value : JSON.stringify(value))
/** What a peer sent may stand in a message: no line of its own, no escape sequence. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is kept out
const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')

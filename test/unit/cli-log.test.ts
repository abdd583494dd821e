/** The log: a line a message, for people or machines. */
import { expect, test } from 'vitest'
import { createPaint, isColoured } from '../../src/cli/paint.ts'
import type { LogOptions } from '../../src/sinks/log.ts'
import { createLog } from '../../src/sinks/log.ts'

function logged(options: Pick<LogOptions, 'level' | 'format'>): string[] {
  const lines: string[] = []
  const log = createLog({ ...options, write: (line) => lines.push(line) })
  log.debug('detail')
  log.info('up', { port: 8080, path: 'a b', isReady: true, nothing: null })
  log.warn('line one\nline two \u001b[31mred')
  log.error('bad', { text: 'x\ny' })
  return lines
}

test('text: time, level, message, fields; never two lines, never an escape [cli.log]', () => {
  const lines = logged({ level: 'info', format: 'text' })
  expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d\.\d{3} /, ''))).toEqual([
    'info  up port=8080 path="a b" isReady=true nothing=null\n',
    'warn  line one line two  [31mred\n',
    'error bad text="x\\ny"\n',
  ])
})
test('json: one object a line [cli.log]', () => {
  const lines = logged({ level: 'debug', format: 'json' })
  expect(lines).toHaveLength(4)
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ level: 'info', message: 'up', port: 8080, time: expect.stringMatching(/^\d{4}-.*Z$/) })
})
test('levels are kept to, and silent is silent [cli.log]', () => {
  expect(logged({ level: 'error', format: 'json' })).toHaveLength(1)
  expect(logged({ level: 'silent', format: 'text' })).toEqual([])
})
test('colour: on a terminal only, and not where NO_COLOR is set [cli.no-color]', () => {
  expect(isColoured({ isTTY: true }, {})).toBe(true)
  expect(isColoured({ isTTY: true }, { NO_COLOR: '' })).toBe(true)
  expect(isColoured({ isTTY: true }, { NO_COLOR: '0' })).toBe(false)
  expect(isColoured({ isTTY: true }, { TERM: 'dumb' })).toBe(false)
  expect(isColoured({}, {})).toBe(false)
  expect(createPaint(true)('bold', 'x')).toBe('\u001b[1mx\u001b[22m')
  expect(createPaint(false)('bold', 'x')).toBe('x')
})

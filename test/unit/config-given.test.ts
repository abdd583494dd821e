/** Flags and environment: who wins, what is a list, what is unknown. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: files write variables so
import { expect, test } from 'vitest'
import { expandEnvironment } from '../../src/config/environment.ts'
import { createGiven, unknownVariables } from '../../src/config/given.ts'
import { durationOf, parseAddress } from '../../src/config/values.ts'

test('a flag wins over its variable, and is the one to blame [config.precedence]', () => {
  const given = createGiven({ 'idle-timeout': '60' }, { IMPATIENT_IDLE_TIMEOUT: '5s', IMPATIENT_LISTEN: 'nowhere' })
  expect(given.one('idle-timeout', durationOf())).toBeUndefined()
  expect(given.one('listen', parseAddress)).toBeUndefined()
  expect(given.errors).toEqual([
    '--idle-timeout: expected a duration such as 250ms, 60s or 1m30s, got 60: a number needs a unit, write 60s or 60ms',
    'IMPATIENT_LISTEN: expected an address such as 127.0.0.1:8080, :8080 or [::1]:8080, got "nowhere": the port is missing',
  ])
})
test('a variable mirrors its flag; a list is split on commas [config.mirror]', () => {
  const given = createGiven({}, { IMPATIENT_HEADER_TIMEOUT: '2s', IMPATIENT_HOP: 'cloudflare, nginx:idle.after=20s' })
  expect(given.one('header-timeout', durationOf())).toBe(2_000)
  expect(given.list('hop')).toEqual({ from: 'IMPATIENT_HOP', values: ['cloudflare', 'nginx:idle.after=20s'] })
  expect(createGiven({ hop: ['a', 'b,c'] }, {}).list('hop')?.values).toEqual(['a', 'b', 'c'])
})
test('an empty variable is unset, an empty flag is a mistake', () => {
  expect(createGiven({}, { IMPATIENT_LISTEN: '' }).isGiven('listen')).toBe(false)
  const given = createGiven({ listen: '' }, {})
  given.one('listen', parseAddress)
  expect(given.errors[0]).toContain('--listen: expected an address')
  expect(given.errors[0]).toContain('got nothing')
})
test('a value given twice is a mistake', () => {
  const given = createGiven({ listen: [':1', ':2'] }, {})
  expect(given.one('listen', parseAddress)).toBeUndefined()
  expect(given.errors).toEqual(['--listen: expected one value, got ":1" and ":2": give it once'])
})

test('unknown variables: one line; links to services: silence [config.unknown-variable]', () => {
  const links = {
    IMPATIENT_HOP_SERVICE_HOST: '10.0.0.1',
    IMPATIENT_HOP_SERVICE_PORT: '8080',
    IMPATIENT_HOP_SERVICE_PORT_ADMIN: '8475',
    IMPATIENT_HOP_PORT: 'tcp://10.0.0.1:8080',
    IMPATIENT_HOP_PORT_8080_TCP_ADDR: '10.0.0.1',
  }
  expect(unknownVariables({ ...links, IMPATIENT_HOP: 'nginx', IMPATIENT_ADMIN_TOKEN: 't', PATH: '/bin' }, new Set())).toBeNull()
  expect(unknownVariables({ IMPATIENT_IDLE_TIMOUT: '5s', IMPATIENT_ZZZZZZZZ: '', IMPATIENT_MINE: 'x' }, new Set(['IMPATIENT_MINE']))).toBe(
    'ignored, for nothing reads them: IMPATIENT_IDLE_TIMOUT (did you mean IMPATIENT_IDLE_TIMEOUT?), IMPATIENT_ZZZZZZZZ',
  )
  // A flag called --hop-port would be swallowed with the links; --hop-order must not be.
  expect(unknownVariables({ IMPATIENT_HOP_ORDER: 'x' }, new Set())).toContain('IMPATIENT_HOP_ORDER')
})

test('variables in texts are replaced, wherever they stand [config.variables]', () => {
  const { value, unset, used } = expandEnvironment(
    { admin: { token: '${TOKEN}' }, list: ['a${A}b${A}', 5, null, true], plain: '$A $${TOKEN} {A}' },
    { TOKEN: 'secret', A: '1' },
  )
  expect(value).toEqual({ admin: { token: 'secret' }, list: ['a1b1', 5, null, true], plain: '$A ${TOKEN} {A}' })
  expect(unset).toEqual([])
  expect([...used]).toEqual(['TOKEN', 'A'])
})
test('what a variable holds is not looked into again', () => {
  expect(expandEnvironment('${A}', { A: '${B}', B: 'x' }).value).toBe('${B}')
})
test('an unset variable, or no name at all, is told with its place [config.variables]', () => {
  const { unset } = expandEnvironment({ a: ['x', '${NOPE}'], b: '${NOPE:-default}' }, {})
  expect(unset.map(({ path }) => path)).toEqual([['a', 1], ['b']])
  expect(unset[0]?.message).toContain('environment variable NOPE to be set')
  expect(unset[1]?.message).toContain("expected a variable's name in ${NOPE:-default}")
})

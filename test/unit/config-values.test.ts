/** Single values: what is read, and the words for what is not. */
import { describe, expect, test } from 'vitest'
import type { Parse } from '../../src/config/values.ts'
import {
  choiceOf,
  durationOf,
  formatAddress,
  isLoopback,
  parseAddress,
  parseAddressOrNone,
  parseOrigin,
  parseSizeValue,
  parseUrl,
  wholeNumberOf,
} from '../../src/config/values.ts'

const resultOf = <T>(parse: Parse<T>, text: string): T | string => {
  const parsed = parse(text)
  return parsed.ok ? parsed.value : parsed.problem
}

test.each([
  ['127.0.0.1:8080', '127.0.0.1', 8080],
  ['localhost:0', 'localhost', 0],
  [':9465', '0.0.0.0', 9465],
  ['[::1]:8475', '::1', 8475],
  ['[::]:65535', '::', 65_535],
  ['my-host.svc.cluster.local:80', 'my-host.svc.cluster.local', 80],
])('address %s [config.addresses]', (text, host, port) => {
  expect(resultOf(parseAddress, text)).toEqual({ host, port })
})

test.each([
  ['8080', 'got 8080: write 127.0.0.1:8080'],
  ['http://127.0.0.1:8080', 'leave the scheme out'],
  ['127.0.0.1', 'the port is missing'],
  ['::1:8080', 'put an IPv6 host in brackets'],
  ['127.0.0.1:70000', 'a port is 65535 at most'],
  ['[host]:80', 'what is in brackets is no IPv6 host'],
  ['[]:80', 'what is in brackets is no IPv6 host'],
  ['', 'got nothing'],
  ['a b:1', 'got "a b:1"'],
  ['127.0.0.1:8080/x', 'got "127.0.0.1:8080/x"'],
])('no address: %s', (text, said) => {
  expect(resultOf(parseAddress, text)).toMatch(/^expected an address such as 127\.0\.0\.1:8080, :8080 or \[::1\]:8080, got /)
  expect(resultOf(parseAddress, text)).toContain(said)
})

test('none switches an optional port off, and only there', () => {
  expect(resultOf(parseAddressOrNone, 'none')).toBeNull()
  expect(resultOf(parseAddress, 'none')).toContain('the port is missing')
})

test('addresses are written as they are read', () => {
  for (const text of ['127.0.0.1:1', '[::1]:2']) expect(formatAddress(resultOf(parseAddress, text) as never)).toBe(text)
})

test('loopback is this machine only', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true)
  expect(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'localhost.example', '1270.0.0.1'].some(isLoopback)).toBe(false)
})

describe('origins', () => {
  test.each(['http://127.0.0.1:3000', 'https://mcp.example.com', 'http://[::1]:3000/'])('%s', (text) => {
    expect(resultOf(parseOrigin, text)).toEqual(new URL(text))
  })
  test('a path is refused, and told where it goes [cli.upstream-path]', () => {
    expect(resultOf(parseOrigin, 'http://127.0.0.1:3000/mcp')).toBe(
      'expected an origin such as http://127.0.0.1:3000, got "http://127.0.0.1:3000/mcp": leave "/mcp" out, the client\'s path is passed on (write http://127.0.0.1:3000)',
    )
    expect(resultOf(parseOrigin, 'http://h/?a=1')).toContain('leave "?a=1" out')
  })
  test('a password is refused and not repeated', () => {
    const said = resultOf(parseOrigin, 'http://me:secret@127.0.0.1:3000')
    expect(said).toContain('leave the credentials out')
    expect(said).not.toContain('secret')
  })
  test.each([
    ['localhost:3000', 'write http://localhost:3000'],
    ['ftp://h', 'http and https only'],
    ['http://', 'got "http://"'],
    ['', 'got nothing'],
  ])('no origin: %s', (text, said) => {
    expect(resultOf(parseOrigin, text)).toContain(said)
  })
  test('a URL may have a path where it is no origin', () => {
    expect(resultOf(parseUrl, 'http://collector:4318/base')).toEqual(new URL('http://collector:4318/base'))
  })
})

test('durations need a unit [cli.bad-duration]', () => {
  expect(resultOf(durationOf(), '1m30s')).toBe(90_000)
  expect(resultOf(durationOf(), '30')).toBe(
    'expected a duration such as 250ms, 60s or 1m30s, got 30: a number needs a unit, write 30s or 30ms',
  )
  expect(resultOf(durationOf(), 'soon')).toBe('expected a duration such as 250ms, 60s or 1m30s, got "soon"')
  expect(resultOf(durationOf(), '-5s')).toBe('expected a duration such as 250ms, 60s or 1m30s, got "-5s": it cannot be below 0')
  expect(resultOf(durationOf(1), '0s')).toBe('expected a duration of at least 1ms, got "0s"')
})
test('sizes: a bare number is bytes', () => {
  expect(resultOf(parseSizeValue, '100MiB')).toBe(104_857_600)
  expect(resultOf(parseSizeValue, '4096')).toBe(4_096)
  expect(resultOf(parseSizeValue, 'big')).toContain('got "big"')
})
test('numbers and choices', () => {
  expect(resultOf(wholeNumberOf(10), '10')).toBe(10)
  for (const text of ['11', '-1', '1.5', 'x', '1e3', ''])
    expect(resultOf(wholeNumberOf(10), text)).toContain('expected a whole number from 0 to 10')
  expect(resultOf(choiceOf(['act', 'shadow']), 'shadow')).toBe('shadow')
  expect(resultOf(choiceOf(['act', 'shadow']), 'shadwo')).toBe('expected act or shadow, got "shadwo": did you mean shadow?')
})

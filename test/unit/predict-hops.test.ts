/** Hops in words: two compared, and the page of all presets. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { listPresets } from '../../src/config/presets.ts'
import { typed } from '../support/cli-world.ts'

const PAGE = readFileSync(new URL('../../config/hops/README.md', import.meta.url), 'utf8')

describe('hops compare', () => {
  test('differences with both confidences, then what is the same [compare.fields]', async () => {
    const { code, out } = await typed('hops compare cloudflare heroku')
    expect(code).toBe(0)
    const [different = '', same = ''] = out.split('the same\n')
    expect(out).toMatch(/^cloudflare \(Cloudflare\) \[documented\] {2}against {2}heroku \(Heroku router\)/)
    expect(different).toMatch(
      /^idle\n {2}cloudflare {2}after 1m40s without a byte: .*524 A Timeout Occurred.*\[documented\]\n {2}heroku {6}after 55s without a byte either way: .*\[documented\]$/m,
    )
    expect(different).toMatch(/^headers\n.*covers the wait.*\[assumed\]\n.*waits 30s for the headers, then 503.*the server is never told/m)
    expect(same).toMatch(/^ {2}total +no limit on the whole \[/m)
    expect(same).not.toMatch(/^ {2}idle/m)
  })
  test('a hop and itself', async () => {
    expect((await typed('hops compare nginx nginx')).out).toContain('They do the same.')
  })
  test.each([
    ['hops compare nginx', 'expected the names of two hops'],
    ['hops compare nginx haprxy', 'hops compare: unknown hop "haprxy"; did you mean "haproxy"?'],
    ['hops show nginx haproxy', 'expected the name of one hop'],
    ['hops page nginx', 'expected no further word'],
    ['hops compares', 'expected show, compare or page, got "compares"'],
  ])('%s', async (line, expected) => {
    const { code, err } = await typed(line)
    expect(code).toBe(2)
    expect(err).toContain(expected)
  })
})

test('the committed page is the one the files make: impatient-hop hops page > config/hops/README.md [compare.page]', async () => {
  expect((await typed('hops page')).out).toBe(PAGE)
})
test('the page has every preset, its links lead somewhere, and nothing of an object shows through [compare.page]', () => {
  const headings = [...PAGE.matchAll(/^## (.+)$/gm)].map(([, name]) => name)
  expect(headings).toEqual(listPresets())
  const anchors = headings.map((name = '') => name.toLowerCase().replace(/[^a-z0-9-]/g, ''))
  expect([...PAGE.matchAll(/\(#([^)]+)\)/g)].map(([, anchor]) => anchor)).toEqual(anchors)
  expect(PAGE).not.toMatch(/undefined|\[object|NaN/)
})
test('what is only reported is said, in both places [compare.reported]', async () => {
  const { out } = await typed('hops show vercel')
  expect(out).toContain('Known by report only, neither measured nor documented: headers.')
  const [, section = ''] = /^## vercel\n([\s\S]*?)^## /m.exec(PAGE) ?? []
  expect(section).toContain('Known by report only, neither measured nor documented: headers.')
  expect(section).toMatch(/^\| total \| 5m after the request: .*\| documented \|$/m)
})

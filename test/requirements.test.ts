/** Promises against tests: each has one that cites it, and nothing is cited that nobody promised. */
import { expect, test } from 'vitest'
import { allRequirements } from './requirements.ts'
import { citedIds } from './support/cited-ids.ts'
import { parseSource, sourceFiles } from './support/source-tree.ts'

const promised = await allRequirements()
const cited = sourceFiles('test')
  .filter(({ name }) => name.endsWith('.test.ts') && !/^test\/(long|bench)\//.test(name))
  .flatMap(citedIds)

test('every promise is shown by a test', () => {
  const ids = new Set(cited.map(({ id }) => id))
  expect(promised.filter(({ id }) => !ids.has(id)).map(({ id, file }) => `${id} (test/requirements/${file}): no test cites it`)).toEqual([])
})
test('every cited promise exists', () => {
  const ids = new Set(promised.map(({ id }) => id))
  expect(cited.filter(({ id }) => !ids.has(id)).map(({ id, file }) => `${file} cites [${id}], which nobody promised`)).toEqual([])
})
test('no promise is made twice, each is well-named and says something', () => {
  const ids = promised.map(({ id }) => id)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  expect(ids.filter((id) => !/^[a-z][a-z0-9]*\.[a-z0-9][a-z0-9-]*$/.test(id))).toEqual([])
  expect(promised.filter(({ promise }) => promise.length < 10)).toEqual([])
})
test('citations are read from titles of running tests only', () => {
  const text = `/** x */
    test('a [a.one]', () => {}); test.each([1])('b %s [a.two]', () => {}); peerTest('nginx', \`c \${x} [a.three]\`, () => {})
    test('long ' + 'title [a.four]', () => {})
    test.skip('d [b.one]', () => {}); test.todo('e [b.two]'); // test('f [b.three]')
    expect('[b.four]'); describe('[b.five]', () => {}); test('of path[1].x', () => {})`
  expect(citedIds(parseSource('test/x.test.ts', text)).map(({ id }) => id)).toEqual(['a.one', 'a.two', 'a.three', 'a.four'])
})

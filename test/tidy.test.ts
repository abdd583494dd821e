/** The house rules a machine can check. A rule that is not here is advice. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { badImports, badShape, bannedWords, longFunctions, shunnedForms } from './support/house-rules.ts'
import { parseSource, ROOT, sourceFiles } from './support/source-tree.ts'

const src = sourceFiles('src')
const tests = sourceFiles('test')
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((name) => name !== '')

const textOf = (name: string): string => {
  try {
    return readFileSync(join(ROOT, name), 'utf8')
  } catch {
    return '' // removed since it was listed
  }
}

test('every import points downwards, and a package stays in its home', () => {
  expect(src.flatMap(badImports)).toEqual([])
})
test('time, chance, sockets, exits and the console are used in their one home', () => {
  expect(src.flatMap(bannedWords)).toEqual([])
})
test('no any, enum, namespace, `!`, default export, silenced error, or class that is no error', () => {
  expect(src.flatMap(shunnedForms)).toEqual([])
})
test('each file says in its first line what it is for, and fits', () => {
  expect([...src.flatMap(badShape), ...tests.flatMap(badShape).filter((found) => found.includes('first line'))]).toEqual([])
})
test('each function fits', () => {
  expect(src.flatMap(longFunctions)).toEqual([])
})

const FORBIDDEN_TEXT: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "a path of somebody's machine", pattern: /(^|[\s"'`(=:])\/(work|root|home\/\w+|Users\/\w+)\// },
  { what: 'a package registry host', pattern: /https?:\/\/[^\s"'/]*(registry|npmjs|artifactory|verdaccio|nexus)[^\s"'/]*\/(?!package\/)/ },
]
test('no tracked file names a machine path or a registry host', () => {
  const found = tracked
    .filter((name) => !/\.(png|svg|ico|gz)$/.test(name))
    .flatMap((name) =>
      textOf(name)
        .split('\n')
        .flatMap((line, index) =>
          FORBIDDEN_TEXT.filter(({ pattern }) => pattern.test(line)).map(({ what }) => `${name}:${index + 1} ${what}`),
        ),
    )
  expect(found).toEqual([])
})
test('the lock file records no registry', () => {
  const lock = textOf('package-lock.json')
  expect(lock).toContain('"integrity"')
  expect(lock).not.toContain('"resolved"')
})

/** A rule that never fires is none: each is shown what it is there to catch. */
describe('the rules bite', () => {
  const of = (name: string, text: string) => parseSource(name, `/** x */\n${text}`)
  test.each([
    ['core', 'core/a.ts', "import { readFile } from 'node:fs'", badImports],
    ['upwards', 'core/a.ts', "import { x } from '../wire/x.ts'", badImports],
    ['sideways', 'wire/a.ts', "import type { S } from '../sinks/s.ts'", badImports],
    ['sideways to config, by value', 'wire/a.ts', "import { s } from '../config/snapshot.ts'", badImports],
    ['a package abroad', 'sinks/a.ts', "import proxy from 'http-proxy'", badImports],
    ['for effects', 'faults/a.ts', "import './cut.ts'", badImports],
    ['dynamic', 'core/a.ts', "const x = () => import('../app.ts')", badImports],
    ['timer', 'wire/a.ts', 'setTimeout(() => {}, 1)', bannedWords],
    ['date', 'sinks/a.ts', 'const at = Date.now()', bannedWords],
    ['chance', 'core/a.ts', 'const r = Math.random()', bannedWords],
    ['machine', 'core/a.ts', 'const b = Buffer.from("")', bannedWords],
    ['any', 'wire/a.ts', 'const a = (x: any) => x', shunnedForms],
    ['enum', 'wire/a.ts', 'enum E { a }', shunnedForms],
    ['bang', 'wire/a.ts', 'const a = b!', shunnedForms],
    ['default', 'wire/a.ts', 'export default 1', shunnedForms],
    ['class', 'wire/a.ts', 'class A {}', shunnedForms],
    ['silenced', 'wire/a.ts', '// @ts-ignore\nconst a = 1', shunnedForms],
    ['long file', 'wire/a.ts', '\n'.repeat(250), badShape],
    ['long function', 'wire/a.ts', `function f() {\n${'f()\n'.repeat(50)}}`, longFunctions],
  ])('%s', (_what, name, text, rule) => {
    expect(rule(of(`src/${name}`, text))).toHaveLength(1)
  })
  test('no first line', () => {
    expect(badShape(parseSource('src/wire/a.ts', 'export const a = 1\n'))).toHaveLength(1)
  })
  test('words in comments and strings are free; the homes are homes', () => {
    expect(bannedWords(of('src/wire/a.ts', "// setTimeout\nconst say = 'Date.now'"))).toEqual([])
    expect(bannedWords(of('src/wire/real-clock.ts', 'setTimeout(() => {}, 1)'))).toEqual([])
    expect(badImports(of('src/wire/a.ts', "import type { S } from '../config/snapshot.ts'"))).toEqual([])
    expect(shunnedForms(of('src/wire/a.ts', 'class AddressError extends Error {}'))).toEqual([])
    expect(longFunctions(of('src/wire/a.ts', `function f() {\n${'const g = () => {\nf()\n}\n'.repeat(40)}}`))).toEqual([])
  })
})

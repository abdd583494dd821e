/** The house rules as functions: a file in, its offences out, each with its line and what to do instead. */
import { dirname, join } from 'node:path/posix'
import type { Node, SourceFile } from './source-tree.ts'
import { isNode, lineOf, walk } from './source-tree.ts'

const LINES_PER_FILE_MAX = 250
const LINES_PER_FUNCTION_MAX = 50

/** Who is above whom. A room imports from itself and from lower rows; rooms of one row do not know each other. */
const ROWS: readonly (readonly string[])[] = [
  ['main'],
  ['cli'],
  ['app'],
  ['app-types'],
  ['dashboards'],
  ['wire', 'work', 'admin', 'check', 'predict', 'sinks', 'config', 'demo'],
  ['scenario'], // its expectations are the gate's as well, its form the file's and the API's
  ['journal', 'faults'],
  ['hops'],
  ['core'],
]

/** Packages a room may use besides `node:`; `*`: any room above the core. */
const PACKAGE_HOME: Readonly<Record<string, readonly string[] | '*'>> = {
  'http-proxy': ['wire'],
  'prom-client': ['sinks'],
  pino: ['sinks', 'app'],
  yargs: ['cli'],
  '@bufbuild/protobuf': ['work'],
  '@grafana/grafana-foundation-sdk': ['dashboards'],
  '@modelcontextprotocol/server': ['demo'],
  '@modelcontextprotocol/node': ['demo'],
  '@modelcontextprotocol/client': ['demo', 'check'],
  '@modelcontextprotocol/core': ['demo', 'check'],
  ws: ['wire', 'work', 'admin', 'cli'],
  yaml: '*',
  zod: '*',
}

interface Ban {
  readonly what: RegExp
  readonly instead: string
  /** Where it may stand: its one home. */
  readonly home: RegExp
}
const TIME_HOME = /^src\/(wire\/real-clock|work\/probe)\.ts$|^src\/demo\//
const BANS: readonly Ban[] = [
  { what: /(?<!\.)\b(setTimeout|setInterval|setImmediate)\b/, instead: 'the Clock port (src/core/clock.ts)', home: TIME_HOME },
  { what: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b/, instead: 'the Clock port (src/core/clock.ts)', home: TIME_HOME },
  { what: /\bMath\.random\b/, instead: 'the random passed in', home: TIME_HOME },
  { what: /\bcreateServer\b|\bcreateConnection\b/, instead: 'src/wire', home: /^src\/(wire|work|admin|sinks|demo)\// },
  { what: /\bprocess\.exit\b/, instead: 'process.exitCode, or return the code', home: /^src\/(main\.ts|cli\/)/ },
  { what: /\bconsole\./, instead: 'the log, or the print passed in', home: /^src\/main\.ts$/ },
]
const CORE_BANS: readonly Ban[] = [
  { what: /\bBuffer\b|\bprocess\b/, instead: 'Uint8Array; the core knows no machine', home: /^$/ },
  { what: /\bfetch\(|\bnew Date\b/, instead: 'what is passed in', home: /^$/ },
]

const roomOf = (name: string): string =>
  name
    .replace(/^src\//, '')
    .replace(/\.ts$/, '')
    .split('/')[0] ?? ''
const rowOf = (room: string): number => ROWS.findIndex((row) => row.includes(room))
const say = (file: SourceFile, at: number, what: string): string => `${file.name}:${lineOf(file.text, at)} ${what}`

/** Imports that point upwards, sideways, out of the core, or to a package away from its home. */
export function badImports(file: SourceFile): string[] {
  const found: string[] = []
  walk(file.program, (node) => {
    const source = importedFrom(node)
    if (source === null) return
    if (node.type === 'ImportDeclaration' && (node['specifiers'] as unknown[]).length === 0) {
      found.push(say(file, node.start, `imports '${source}' for its effects: register by a line in a list`))
    }
    const why = source.startsWith('.') ? badRoom(file, node, source) : badPackage(file, source)
    if (why !== null) found.push(say(file, node.start, why))
  })
  return found
}

function importedFrom(node: Node): string | null {
  if (!['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression'].includes(node.type)) return null
  const source = node['source']
  return isNode(source) && typeof source['value'] === 'string' ? source['value'] : null
}

function badRoom(file: SourceFile, node: Node, source: string): string | null {
  const target = join(dirname(file.name), source)
  if (!source.endsWith('.ts') && !source.endsWith('.json')) return `imports '${source}': write the ending .ts`
  if (!target.startsWith('src/')) return `imports '${source}' from outside src`
  const [from, to] = [roomOf(file.name), roomOf(target)]
  if (from === to) return null
  const isTypeOnly = node['importKind'] === 'type' || node['exportKind'] === 'type'
  if (target === 'src/config/snapshot.ts' && isTypeOnly && rowOf(from) <= rowOf('config')) return null
  if (rowOf(from) === -1) return `is in a room the house does not have: ${from}`
  if (rowOf(to) === -1) return `imports from a room the house does not have: ${to}`
  return rowOf(to) > rowOf(from) ? null : `${from} imports ${to}: imports point downwards only`
}

function badPackage(file: SourceFile, source: string): string | null {
  const room = roomOf(file.name)
  if (room === 'core') return `core imports '${source}': the core is pure`
  if (source.startsWith('node:'))
    return ['faults', 'hops'].includes(room) ? `${room} imports '${source}': it decides, it does not act` : null
  const name = source.startsWith('@') ? source.split('/').slice(0, 2).join('/') : (source.split('/')[0] ?? source)
  const home = PACKAGE_HOME[name]
  if (home === undefined) return `imports '${name}': no room may, so far (test/support/house-rules.ts)`
  return home === '*' || home.includes(room) ? null : `imports '${name}', whose home is ${home.join(', ')}`
}

/** Words with one home, away from it. */
export function bannedWords(file: SourceFile): string[] {
  const bans = roomOf(file.name) === 'core' ? [...BANS, ...CORE_BANS] : BANS
  return bans.flatMap(({ what, instead, home }) => {
    const found = home.test(file.name) ? null : what.exec(withoutStrings(file))
    return found === null ? [] : [say(file, found.index, `'${found[0]}': use ${instead}`)]
  })
}

/** Code with comments and the text of strings blanked out: a help text may say `setTimeout`. */
function withoutStrings(file: SourceFile): string {
  let code = file.code
  walk(file.program, (node) => {
    if ((node.type === 'Literal' && typeof node['value'] === 'string') || node.type === 'TemplateElement') {
      code = code.slice(0, node.start) + code.slice(node.start, node.end).replace(/[^\n]/g, ' ') + code.slice(node.end)
    }
  })
  return code
}

const SHUNNED: Readonly<Record<string, string>> = {
  TSAnyKeyword: '`any`: unknown, and a check',
  TSEnumDeclaration: '`enum`: a union of literals',
  TSModuleDeclaration: '`namespace`: a file',
  TSNonNullExpression: '`!`: a check, or an assert',
  ExportDefaultDeclaration: 'a default export: name it',
}

/** Forms of the language the house does without. */
export function shunnedForms(file: SourceFile): string[] {
  const found = file.comments
    .filter(({ value }) => /@ts-(ignore|nocheck|expect-error)/.test(value))
    .map(({ start }) => say(file, start, 'a silenced type error'))
  walk(file.program, (node) => {
    const why = SHUNNED[node.type]
    if (why !== undefined) found.push(say(file, node.start, why))
    if ((node.type === 'ClassDeclaration' || node.type === 'ClassExpression') && !extendsError(node)) {
      found.push(say(file, node.start, 'a class that is no error: a function and a closure'))
    }
  })
  return found
}

function extendsError(node: Node): boolean {
  const parent = node['superClass']
  return isNode(parent) && parent.type === 'Identifier' && /(Error|BrokenInvariant|Problem)$/.test(String(parent['name']))
}

/** A first line that does not say what the file is for, and a file too long to be one thing. */
export function badShape(file: SourceFile): string[] {
  const lines = file.text.replace(/\n$/, '').split('\n')
  const first = (lines[0]?.startsWith('#!') ? lines[1] : lines[0]) ?? ''
  const found: string[] = []
  const second = lines[lines.indexOf(first) + 1] ?? ''
  if (!/^\/\*\* \S/.test(first) && !(first === '/**' && /^ \* \S/.test(second)))
    found.push(say(file, 0, 'the first line does not say what the file is for'))
  if (lines.length > LINES_PER_FILE_MAX) found.push(say(file, 0, `${lines.length} lines: ${LINES_PER_FILE_MAX} at most`))
  return found
}

const isFunction = (node: Node): boolean => /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)

/** Functions of too many lines of code of their own: comments are free, and what is inside an inner function is that function's. */
export function longFunctions(file: SourceFile): string[] {
  const found: string[] = []
  const codeLines = file.code.split('\n')
  const ownLines = (outer: Node): number => {
    const own = new Set<number>()
    for (let line = lineOf(file.text, outer.start); line <= lineOf(file.text, outer.end); line += 1) {
      if (codeLines[line - 1]?.trim() !== '') own.add(line)
    }
    walk(outer, (node) => {
      if (node === outer || !isFunction(node)) return true
      for (let line = lineOf(file.text, node.start) + 1; line <= lineOf(file.text, node.end); line += 1) own.delete(line)
      return false
    })
    return own.size
  }
  walk(file.program, (node) => {
    if (!isFunction(node)) return
    const lines = ownLines(node)
    if (lines > LINES_PER_FUNCTION_MAX) found.push(say(file, node.start, `a function of ${lines} lines: ${LINES_PER_FUNCTION_MAX} at most`))
  })
  return found
}

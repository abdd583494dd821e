/** YAML (or JSON) text → its value, or what keeps it from being one: in plain words, with line and column. Never throws for what a user wrote. */
import type { Document, YAMLError } from 'yaml'
import { isAlias, isMap, isNode, isPair, isSeq, LineCounter, parseDocument, visit } from 'yaml'

type Key = string | number

export interface Written {
  readonly value: unknown
  /** The line of a place, or of the nearest place around it that the text has. */
  lineOf(path: readonly Key[]): number | null
}

/** A text whose aliases give more than this is a bomb, not a configuration. */
const ALIASES_MAX = 100

export function readDocument(text: string, fileName: string): Written | { readonly errors: readonly string[] } {
  const lines = new LineCounter()
  const at = (offset: number, what: string): string => {
    const { line, col } = lines.linePos(offset)
    return `${fileName}:${line}:${col} ${what}`
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
    if (document.errors.length > 0)
      return { errors: firstOfEachLine(document.errors, lines).map((error) => at(error.pos[0], inWords(error, text))) }
    const broken = brokenAlias(document)
    if (broken !== null) return { errors: [at(broken.offset, broken.what)] }
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }), lineOf: (path) => lineOf(document, lines, path) }
  } catch (error) {
    if (error instanceof RangeError) return { errors: [`${fileName}:1 expected a configuration, but it is nested too deep`] }
    if (!(error instanceof ReferenceError)) throw error
    return {
      errors: [at(firstAlias(text), `expected aliases (*name) that give ${ALIASES_MAX} values at most: write out what they stand for`)],
    }
  }
}

/** One that names nothing before it, or what it is itself part of. */
function brokenAlias(document: Document.Parsed): { readonly offset: number; readonly what: string } | null {
  let found: { offset: number; what: string } | null = null
  visit(document, {
    Alias(_, alias, path) {
      const target = alias.resolve(document)
      const offset = alias.range?.[0] ?? 0
      if (target === undefined)
        found = { offset, what: `*${alias.source} stands for nothing: expected &${alias.source} at an earlier place` }
      else if (path.some((node) => node === target))
        found = { offset, what: `*${alias.source} stands for what it is part of: write its value here` }
      return found === null ? undefined : visit.BREAK
    },
  })
  return found
}

function firstAlias(text: string): number {
  let offset = 0
  visit(parseDocument(text), {
    Alias(_, alias) {
      offset = alias.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

/** What follows on the same line follows from the first. */
function firstOfEachLine(errors: readonly YAMLError[], lines: LineCounter): readonly YAMLError[] {
  const seen = new Set<number>()
  return errors.filter(({ pos }) => {
    const { line } = lines.linePos(pos[0])
    if (seen.has(line)) return false
    seen.add(line)
    return true
  })
}

function inWords({ code, message, pos }: YAMLError, text: string): string {
  const rest = text.slice(pos[0])
  switch (code) {
    case 'DUPLICATE_KEY':
      return `the key ${/^("[^"]*"|'[^']*'|[^:\s]+)/.exec(rest)?.[0] ?? '?'} is given twice: keep one of them`
    case 'TAB_AS_INDENT':
      return 'expected spaces before it, got a tab: indent with spaces'
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return 'expected one "key: value" a line: put the value in quotes, or indent it on lines of its own'
    case 'MULTIPLE_DOCS':
      return 'expected one document, got a second one after ---: keep one in a file'
    case 'BAD_SCALAR_START':
      return `a value cannot start with ${JSON.stringify(rest[0] ?? '')}: put it in quotes`
    case 'UNEXPECTED_TOKEN':
      return `this does not belong here (${JSON.stringify(rest.split('\n')[0]?.slice(0, 40) ?? '')}): are the lines around it indented alike?`
    case 'BAD_INDENT':
    case 'MISSING_CHAR':
      return /end with a? ?[\]}]|\]|\}/.test(message) ? 'a bracket is not closed, or its lines are not indented' : closing(message)
    default:
      return plainly(message)
  }
}

const closing = (message: string): string =>
  /quote/.test(message)
    ? 'a quote is not closed'
    : /map values/.test(message)
      ? 'expected ":" and a value after this key'
      : plainly(message)
const plainly = (message: string): string => `this is no YAML: ${(message.split('\n')[0] ?? '').toLowerCase()}`

function lineOf(document: Document.Parsed, lines: LineCounter, path: readonly Key[]): number | null {
  let node: unknown = document.contents
  let offset = isNode(node) ? node.range?.[0] : undefined
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && keyOf(item.key, document) === String(key))
      if (pair === undefined) break
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      const item = node.items[Number(key)]
      if (!isNode(item)) break
      offset = item.range?.[0] ?? offset
      node = item
    } else break
  }
  return offset === undefined ? null : lines.linePos(offset).line
}

const keyOf = (key: unknown, document: Document.Parsed): string => String(isNode(key) ? key.toJS(document) : key)

/** Which requirement ids the titles of tests cite: `test('… [area.some-id]', …)`. A skipped test shows nothing and is not counted. */
import type { Node, SourceFile } from './source-tree.ts'
import { isNode, walk } from './source-tree.ts'

export interface Citation {
  readonly id: string
  readonly file: string
}

const TESTS = new Set(['test', 'it', 'peerTest'])
const ID = /\[([a-z][a-z0-9]*\.[a-z0-9][a-z0-9-]*)\]/g

export function citedIds(file: SourceFile): Citation[] {
  const found: Citation[] = []
  walk(file.program, (node) => {
    if (node.type !== 'CallExpression') return
    const title = titleOf(node)
    if (
      title === null ||
      !TESTS.has(rootName(node)) ||
      /\.(skip|todo|fails)\b/.test(file.text.slice(node.start, (node['callee'] as Node).end))
    )
      return
    for (const [, id] of title.matchAll(ID)) if (id !== undefined) found.push({ id, file: file.name })
  })
  return found
}

/** `test`, also of `test.each(…)('…')` and `test.runIf(…)('…')`. */
function rootName(call: Node): string {
  let node = call['callee']
  while (isNode(node)) {
    if (node.type === 'Identifier') return String(node['name'])
    node = node.type === 'MemberExpression' ? node['object'] : node.type === 'CallExpression' ? node['callee'] : null
  }
  return ''
}

/** The first argument (the second of `peerTest`), where it is text: a string, a template's fixed parts, or several joined by `+`. */
function titleOf(call: Node): string | null {
  const title = (call['arguments'] as unknown[])[rootName(call) === 'peerTest' ? 1 : 0]
  return isNode(title) ? textOf(title) : null
}

function textOf(node: Node): string | null {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (node.type === 'TemplateLiteral') return (node['quasis'] as { value: { raw: string } }[]).map(({ value }) => value.raw).join('…')
  if (node.type !== 'BinaryExpression') return null
  const parts = [node['left'], node['right']].map((part) => (isNode(part) ? textOf(part) : null))
  return parts.some((part) => part === null) ? null : parts.join('')
}

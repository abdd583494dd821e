/** Which tools a `tools/list` result names, and what it says of calling them twice. */

/** As the server's annotations have it; what it does not say is not so, as the specification has it. */
export interface ToolHints {
  readonly isReadOnly: boolean
  /** Calling it again with the same arguments has no further effect. */
  readonly isIdempotent: boolean
}

export interface ListedTool {
  readonly name: string
  readonly hints: ToolHints
}

const NAMES_MAX = 1_000

/** Nothing where the text is no such result; of a batch, all. */
export function toolsIn(text: string): readonly ListedTool[] {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return []
  }
  const tools = (Array.isArray(message) ? message : [message]).flatMap((answer: unknown) => {
    const listed = memberOf(memberOf(answer, 'result'), 'tools')
    return Array.isArray(listed) ? listed : []
  })
  return tools.flatMap((tool: unknown) => listedTool(tool)).slice(0, NAMES_MAX)
}

function listedTool(tool: unknown): readonly ListedTool[] {
  const name = memberOf(tool, 'name')
  if (typeof name !== 'string') return []
  const annotations = memberOf(tool, 'annotations')
  const isReadOnly = memberOf(annotations, 'readOnlyHint') === true
  return [{ name, hints: { isReadOnly, isIdempotent: isReadOnly || memberOf(annotations, 'idempotentHint') === true } }]
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

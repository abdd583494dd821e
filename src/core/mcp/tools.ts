/** Which tools a `tools/list` result names. */

const NAMES_MAX = 1_000

/** Nothing where the text is no such result; of a batch, all. */
export function toolNamesIn(text: string): readonly string[] {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return []
  }
  const names = (Array.isArray(message) ? message : [message]).flatMap((answer: unknown) => {
    const tools = memberOf(memberOf(answer, 'result'), 'tools')
    return Array.isArray(tools) ? tools.map((tool: unknown) => memberOf(tool, 'name')) : []
  })
  return names.filter((name) => typeof name === 'string').slice(0, NAMES_MAX)
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

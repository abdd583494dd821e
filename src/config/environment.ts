/** `${NAME}` in a file's texts, replaced from the environment: so that a token needs not stand in the file. */
import type { Environment } from './given.ts'

export interface Unset {
  readonly path: readonly (string | number)[]
  readonly message: string
}

export interface Expanded {
  readonly value: unknown
  readonly unset: readonly Unset[]
  /** Names the file refers to, set or not. */
  readonly used: ReadonlySet<string>
}

/** All texts inside `value`, keys excepted. `$${` stands for a plain `${`. */
export function expandEnvironment(value: unknown, env: Environment): Expanded {
  const unset: Unset[] = []
  const used = new Set<string>()
  const walk = (inner: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof inner === 'string') return expandText(inner, path)
    if (Array.isArray(inner)) return inner.map((item: unknown, index) => walk(item, [...path, index]))
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, walk(item, [...path, key])]))
  }
  const expandText = (text: string, path: readonly (string | number)[]): string =>
    text.replace(/\$(\$\{)|\$\{([^}]*)\}/g, (whole, escaped: string | undefined, name: string | undefined) => {
      if (escaped !== undefined) return escaped
      if (name === undefined || !/^[A-Za-z_]\w*$/.test(name)) {
        unset.push({ path, message: `expected a variable's name in ${whole}: write \${NAME}, or $\${ for a plain \${` })
        return whole
      }
      used.add(name)
      const found = env[name]
      if (found === undefined)
        unset.push({ path, message: `expected the environment variable ${name} to be set, got nothing: set it, or write the value here` })
      return found ?? whole
    })
  return { value: walk(value, []), unset, used }
}

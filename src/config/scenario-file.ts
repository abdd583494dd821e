/** Reads a scenario: from a file, where each complaint names file, line and key, or from what the API was sent. */
import type { Problem } from '../hops/shape.ts'
import { placeOf, problemsOf } from '../hops/shape.ts'
import type { Scenario } from '../scenario/schema.ts'
import { scenarioOf, scenarioSchema } from '../scenario/schema.ts'
import { readPathFrom } from './api-path.ts'
import { readText } from './file.ts'
import { lineFinder, readYaml } from './yaml-file.ts'

/** Throws nothing for what a user wrote. */
export function readScenarioFile(
  name: string,
  readFile: (path: string) => string,
): { readonly scenario: Scenario } | { readonly errors: readonly string[] } {
  const text = readText(name, readFile)
  if (typeof text !== 'string') return { errors: text.errors.map((error) => error.replace('a configuration file', 'a scenario')) }
  const read = readYaml(text, scenarioSchema, name)
  if ('errors' in read) return read
  const made = scenarioOf(read.value, readPathFrom)
  if ('scenario' in made) return made
  const lineOf = lineFinder(text)
  return {
    errors: made.problems.map(({ path, message }) => {
      const line = lineOf(path)
      return `${name}${line === null ? '' : `:${line}`} ${placeOf(path)}: ${message}`
    }),
  }
}

export function readScenarioJson(json: unknown): { readonly scenario: Scenario } | { readonly problem: Problem } {
  const read = scenarioSchema.safeParse(json)
  const made = read.success ? scenarioOf(read.data, readPathFrom) : { problems: problemsOf(read.error.issues) }
  if ('scenario' in made) return made
  return { problem: made.problems[0] ?? { path: [], message: 'invalid' } }
}

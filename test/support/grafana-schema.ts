/** A JSON Schema of Grafana's own Dashboard type, made from its published declarations when asked for (some seconds): no copy that could age. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ErrorObject, SchemaObject } from 'ajv'
import { Ajv } from 'ajv'
import { createGenerator } from 'ts-json-schema-generator'
import { ROOT } from './source-tree.ts'

/** What the builder adds and the type, being Grafana's core alone, does not know: a data source's own fields, and two of older boards. */
const EXTRAS: readonly RegExp[] = [
  /^\/annotations\/list\/\d+ (expr|titleFormat|textFormat|step)$/,
  /^\/annotations\/list\/\d+\/target (expr|range|instant)$/,
  /^\/templating\/list\/\d+ (auto|auto_min|auto_count|definition)$/,
]

/** Offences, each with its place; unknown keys are offences too. */
export function dashboardChecker(): (board: unknown) => readonly string[] {
  const types = join(createRequire(import.meta.url).resolve('@grafana/schema/package.json'), '../dist/types/veneer/dashboard.types.d.ts')
  const generator = createGenerator({
    ...{ path: types, type: 'Dashboard', basePath: ROOT },
    ...{ skipTypeCheck: true, additionalProperties: false, expose: 'none', jsDoc: 'none' },
  })
  const validate = new Ajv({ allErrors: true, strict: false }).compile(generator.createSchema('Dashboard') as SchemaObject)
  return (board) => {
    validate(board)
    return (validate.errors ?? []).filter((error) => !EXTRAS.some((extra) => extra.test(placeOf(error)))).map(say)
  }
}

const placeOf = ({ instancePath, params }: ErrorObject): string => `${instancePath} ${String(params['additionalProperty'] ?? '')}`
const say = (error: ErrorObject): string => `${placeOf(error)}: ${error.message}`

/** The routes as an OpenAPI 3.1 document, so that the document cannot drift from them. */
import { z } from 'zod'
import type { Route } from './route.ts'

type Json = Readonly<Record<string, unknown>>

export function openApiOf(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const here = paths[route.path] ?? {}
    here[route.method.toLowerCase()] = operationOf(route)
    paths[route.path] = here
  }
  return {
    openapi: '3.1.0',
    info: { title: 'impatient-hop admin API', version, license: { name: 'MIT', identifier: 'MIT' } },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'Needed where admin.token is set' } },
      schemas: { Problem: problemSchema },
    },
  }
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What was expected, what came, and the remedy' },
    key: { type: 'string', description: 'The key at fault' },
  },
}

function operationOf({ method, path, summary, isOpen, query, takes, gives }: Route): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const parameters = [
    ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(query ?? {}).map(([name, description]) => ({ name, in: 'query', description, schema: { type: 'string' } })),
  ]
  return {
    operationId: operationIdOf(method, path),
    summary,
    ...(isOpen === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(takes === undefined ? {} : { requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(takes) } } } }),
    responses: {
      [String(gives?.status ?? 200)]: successOf(gives),
      default: {
        description: 'A problem',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

function successOf(gives: Route['gives']): Json {
  if (gives === undefined || gives.contentType === null) return { description: 'Done' }
  return { description: 'Done', content: { [gives.contentType]: { schema: gives.schema === undefined ? {} : jsonSchemaOf(gives.schema) } } }
}

/** What is written, not what it is read as: durations are strings here. */
function jsonSchemaOf(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest
}

function operationIdOf(method: string, path: string): string {
  const words = path
    .replace('/api/v1', '')
    .replace(/\.json$/, '')
    .split(/[/{}]+/)
    .filter((word) => word !== '')
  return [method.toLowerCase(), ...words.map((word) => word[0]?.toUpperCase() + word.slice(1))].join('') || method.toLowerCase()
}

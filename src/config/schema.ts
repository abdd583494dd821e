/** The configuration file, every key of it: what is accepted, what it means, and so its JSON Schema. */
import { z } from 'zod'
import { faultRuleSchema, safetySchema } from '../faults/fault-schema.ts'
import { hopSchema } from '../hops/hop-schema.ts'
import { duration, oneOf, show, strict } from '../hops/shape.ts'
import { AFTER_CUTS, INJECTS, MODES, UPSTREAM_ENGINES } from './flags.ts'
import type { Parse } from './values.ts'
import { parseAddress, parseAddressOrNone, parseOrigin, parseUrl } from './values.ts'

/** A text in, a value out; a number or object there is told what was expected as well. */
function textOf<T>(parse: Parse<T>, description: string, example: string) {
  const complaint = (input: unknown): string => {
    const parsed = parse(typeof input === 'number' ? String(input) : '')
    if (parsed.ok) return `expected ${JSON.stringify(example)} or the like, got ${show(input)}`
    return typeof input === 'number' ? parsed.problem : parsed.problem.replace(/got nothing$/, `got ${show(input)}`)
  }
  return z
    .string({ error: ({ input }) => complaint(input) })
    .transform((text, context): T => {
      const parsed = parse(text)
      if (parsed.ok) return parsed.value
      context.addIssue({ code: 'custom', message: parsed.problem, input: text })
      return z.NEVER
    })
    .meta({ description, examples: [example] })
}

const address = (description: string, example: string) => textOf(parseAddress, description, example)
const addressOrNone = (description: string, example: string) => textOf(parseAddressOrNone, description, example)

const admin = strict({
  listen: address('API, live page and metrics; beyond loopback a token is needed', '127.0.0.1:8475').optional(),
  token: z
    .string({
      error: ({ input }) => `expected a token as text, got ${input === undefined ? 'nothing' : `a ${typeof input}: put it in quotes`}`,
    })
    .min(1, { error: 'expected a token, got an empty text: give one, or leave the key out' })
    .meta({ description: 'What `Authorization: Bearer` must carry; better named as a variable of the environment than written here' })
    .optional(),
}).meta({ description: 'The port that is yours' })

const TOOLS_MAX = 10_000
const metrics = strict({
  listen: addressOrNone('/metrics, /healthz, /readyz and GET /drain alone, without a token; off unless set', '0.0.0.0:9465').optional(),
  tools: z
    .int({ error: ({ input }) => `expected a number of tools, got ${show(input)}` })
    .min(0, { error: ({ input }) => `expected a number of tools, got ${show(input)}` })
    .max(TOOLS_MAX, { error: ({ input }) => `expected ${TOOLS_MAX} tools at most, got ${show(input)}` })
    .meta({ description: 'How many tools get a label of their own; the rest are `other` (default 50)' })
    .optional(),
}).meta({ description: 'Metrics for a scraper' })

const otlp = strict({
  listen: addressOrNone('Work reports over OTLP/HTTP; none for off (default 127.0.0.1:4318)', '127.0.0.1:4318').optional(),
  grpc: addressOrNone('Work reports over OTLP/gRPC; none for off (default 127.0.0.1:4317)', '127.0.0.1:4317').optional(),
  forwardTo: textOf(parseUrl, 'The collector that gets everything received, byte for byte', 'http://collector:4318').optional(),
}).meta({ description: 'Where servers report their work' })

export const pathEntrySchema = strict({
  hop: z
    .string({ error: ({ input }) => `expected the name of a hop such as nginx, or custom, got ${show(input)}` })
    .meta({ description: 'A preset (`impatient-hop hops` lists them), or custom, which does nothing by itself', examples: ['nginx'] }),
  with: hopSchema.optional(),
}).meta({ description: 'A hop, and what of it is different here' })

const matcherText = (what: string) =>
  z
    .string({ error: ({ input }) => `expected ${what} as text, got ${show(input)}` })
    .min(1, { error: `expected ${what}, got an empty text` })

/** Which spans are work, for servers that give theirs no `mcp.method.name`. */
const matcher = z
  .union(
    [
      strict({ attribute: matcherText("an attribute's name"), equals: matcherText('its value') }),
      strict({ name: matcherText('a span name, with * for any text') }),
    ],
    { error: 'expected { attribute: …, equals: … } or { name: "…" }' },
  )
  .meta({ description: 'An attribute and its value, or a pattern of the span name with * for any text' })

const work = strict({
  grace: duration.optional(),
  afterCut: oneOf(...AFTER_CUTS)
    .meta({ description: 'What the server sees of a cut; drain keeps reading, to measure (default hang-up)' })
    .optional(),
  wait: duration.optional(),
  inject: oneOf(...INJECTS)
    .meta({ description: 'How the trace context reaches the server (default header)' })
    .optional(),
  match: z.array(matcher).max(100).meta({ description: 'Spans that count as work besides those with mcp.method.name' }).optional(),
}).meta({ description: 'The work of the server: what counts as orphaned, and how it is found' })

export const settingsSchema = strict({
  listen: address('Where clients connect (default 127.0.0.1:8080)', '127.0.0.1:8080').optional(),
  upstream: textOf(parseOrigin, "The MCP server's origin; the client's path is passed on", 'http://127.0.0.1:3000').optional(),
  upstreamEngine: oneOf(...UPSTREAM_ENGINES)
    .meta({ description: 'What carries requests to the server; direct costs less CPU (default http-proxy)' })
    .optional(),
  mode: oneOf(...MODES)
    .meta({ description: 'shadow decides and counts, and cuts nothing (default act)' })
    .optional(),
  admin: admin.optional(),
  metrics: metrics.optional(),
  otlp: otlp.optional(),
  path: z
    .array(pathEntrySchema, { error: ({ input }) => `expected a list of hops, got ${show(input)}` })
    .meta({ description: "The hops, from the client's side to the server's" })
    .optional(),
  faults: z
    .array(faultRuleSchema, { error: ({ input }) => `expected a list of faults, got ${show(input)}` })
    .meta({ description: 'Disturbances aimed at chosen exchanges' })
    .optional(),
  work: work.optional(),
  safety: safetySchema.optional(),
}).meta({ title: 'impatient-hop', description: 'The configuration of impatient-hop, as YAML or JSON' })

export type FileSettings = z.output<typeof settingsSchema>

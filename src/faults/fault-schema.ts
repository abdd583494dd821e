/** A fault's rule and the safety settings as users write them. What passes here compiles. */
import { z } from 'zod'
import { oneOf, show, strict } from '../hops/shape.ts'
import { countFrom1, durationText } from './fault-values.ts'
import { FAULT_KINDS } from './index.ts'

const globText = z.string({ error: ({ input }) => `expected a text, * and ? allowed, got ${show(input)}` }).min(1)

export const whenSchema = strict({
  method: globText.optional().describe('JSON-RPC method, e.g. tools/call'),
  tool: globText.optional(),
  headers: z.record(z.string(), globText).optional(),
  probability: z
    .number({ error: ({ input }) => `expected a probability from 0 to 1, got ${show(input)}` })
    .min(0, { error: ({ input }) => `expected a probability from 0 to 1, got ${show(input)}` })
    .max(1, { error: ({ input }) => `expected a probability from 0 to 1, got ${show(input)}; 25 % is 0.25` })
    .optional(),
  nth: z
    .union([countFrom1('a number'), z.array(countFrom1('a number')).min(1)], {
      error: ({ input }) => `expected numbers from 1 such as [3], got ${show(input)}`,
    })
    .optional()
    .describe('Which matches, counted before the probability'),
  connection: countFrom1('the number of a connection').optional(),
  path: globText.optional(),
  revision: globText.optional(),
  kind: oneOf('call', 'subscription', 'notification', 'get_sse', 'websocket', 'other').optional(),
  client: globText.optional(),
})
export type When = z.output<typeof whenSchema>

const kinds = Object.fromEntries(FAULT_KINDS.map(({ key, schema, docs }) => [key, schema.optional().describe(docs)]))
const keys = FAULT_KINDS.map(({ key }) => key)

const doSchema = strict(kinds).superRefine((asked, context) => {
  if (context.issues.length > 0) return // an unknown key says enough
  const given = Object.keys(asked)
  if (given.length !== 1) {
    const got = given.length === 0 ? 'none' : given.join(' and ')
    context.addIssue({ code: 'custom', message: `expected one of ${keys.join(', ')}; got ${got}` })
  }
})

/** Of what is decided before a request is known. */
const CONNECTION_KEYS: readonly string[] = ['connection', 'probability']

function isBeforeRequests(asked: Readonly<Record<string, unknown>>): boolean {
  const stall = asked['stall']
  return 'refuse' in asked || (typeof stall === 'object' && stall !== null && 'from' in stall && stall.from === 'accept')
}

export const faultRuleSchema = strict({
  name: z.string({ error: ({ input }) => `expected a name, got ${show(input)}` }).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    error: ({ input }) => `expected a name of letters, digits, ".", "_" and "-" (64 at most), got ${show(input)}`,
  }),
  when: whenSchema.optional(),
  do: doSchema,
  at: oneOf('client', 'server').optional(),
  for: durationText.optional().describe('It ends so long after it was added or loaded'),
  until: z.iso
    .datetime({ offset: true, error: ({ input }) => `expected a time such as 2026-12-01T18:00:00Z, got ${show(input)}` })
    .optional(),
  enabled: z.boolean().optional(),
  announce: z.boolean().optional().describe('Adds x-impatient-fault to the response where a head is still to be sent'),
}).superRefine((rule, context) => {
  if (rule.for !== undefined && rule.until !== undefined)
    context.addIssue({ code: 'custom', path: ['until'], message: 'for and until exclude each other: leave one out' })
  if (!isBeforeRequests(rule.do)) return
  for (const key of Object.keys(rule.when ?? {})) {
    if (CONNECTION_KEYS.includes(key)) continue
    context.addIssue({
      code: 'custom',
      path: ['when', key],
      message: `this fault acts before any request is known: it takes only ${CONNECTION_KEYS.join(' and ')}`,
    })
  }
})
/** As written, durations still text: to be shown, compared and compiled. */
export type FaultRule = z.output<typeof faultRuleSchema>

const percent = z
  .string({ error: ({ input }) => `expected a share such as "50%", got ${show(input)}` })
  .refine((text) => /^\d{1,3}(\.\d+)?%$/.test(text) && Number.parseFloat(text) <= 100, {
    error: ({ input }) => `expected a share from 0% to 100%, got ${show(input)}`,
  })
  .meta({ description: 'A share', examples: ['50%'] })

export const safetySchema = strict({
  affectedMax: percent.optional().describe('Of the open exchanges, how many faults may affect; one always'),
  cutsPerMinuteMax: z
    .int({ error: ({ input }) => `expected a number of cuts from 0, got ${show(input)}` })
    .min(0, { error: ({ input }) => `expected a number of cuts from 0, got ${show(input)}` })
    .optional(),
  requireUntil: z.boolean().optional().describe('Refuses a fault without for or until'),
  exempt: strict({ methods: z.array(globText).optional() }).optional(),
})
export type Safety = z.output<typeof safetySchema>

/** What keeps a valid rule out all the same, as one line that begins with its key; null: nothing. */
export function refusalOf(rule: FaultRule, safety: Safety): string | null {
  if (safety.requireUntil === true && rule.for === undefined && rule.until === undefined)
    return 'for: expected an end (for or until), since safety.requireUntil is set'
  return null
}

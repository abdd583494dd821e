/** A scenario as users write it, in a file or to the API; and as it is played. */
import { z } from 'zod'
import type { FaultRule } from '../faults/fault-schema.ts'
import { faultRuleSchema } from '../faults/fault-schema.ts'
import { durationText, msOf } from '../faults/fault-values.ts'
import type { Hop } from '../hops/hop.ts'
import type { Problem } from '../hops/shape.ts'
import { show, strict } from '../hops/shape.ts'
import type { Expectation } from './expectation.ts'
import { EXPECTATION_FORM, parseExpectation } from './expectation.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/
const nameText = z.string({ error: ({ input }) => `expected a name, got ${show(input)}` }).regex(NAME, {
  error: ({ input }) => `expected a name of letters, digits, blanks, ".", "_" and "-" (64 at most), got ${show(input)}`,
})

const expectationText = z
  .string({ error: ({ input }) => `expected ${EXPECTATION_FORM}, got ${show(input)}` })
  .superRefine((text, context) => {
    const read = parseExpectation(text)
    if ('problem' in read) context.addIssue({ code: 'custom', message: read.problem })
  })
  .meta({ description: EXPECTATION_FORM, examples: ['orphan p95 < 2s'] })
const expectations = z
  .array(expectationText, { error: ({ input }) => `expected a list such as ["undelivered = 0"], got ${show(input)}` })
  .max(100)

const phaseRule = faultRuleSchema.superRefine((rule, context) => {
  for (const key of ['for', 'until'] as const) {
    if (rule[key] !== undefined) context.addIssue({ code: 'custom', path: [key], message: "leave it out: the phase's end is the fault's" })
  }
})

const phaseSchema = strict({
  name: nameText,
  for: durationText.refine((text) => msOf(text) > 0, { error: 'expected a duration above 0' }),
  path: z
    .array(z.unknown(), { error: ({ input }) => `expected a list of hops, got ${show(input)}` })
    .max(20)
    .optional()
    .describe('The hops of this phase, [] for none; absent: those in force otherwise'),
  faults: z
    .array(phaseRule, { error: ({ input }) => `expected a list of faults, got ${show(input)}` })
    .max(100)
    .optional(),
  expect: expectations.optional().describe('Of the calls opened in this phase'),
})

export const scenarioSchema = strict({
  name: nameText,
  phases: z
    .array(phaseSchema, { error: ({ input }) => `expected a list of phases, got ${show(input)}` })
    .min(1, { error: 'expected one phase or more' })
    .max(100),
  expect: expectations.optional().describe('The steady state: of the calls opened in all phases'),
  stopWhen: expectations.optional().describe('Ends it early, in pass-through, as soon as one of these holds'),
  settle: durationText
    .optional()
    .describe('How long calls may take to settle after the last phase (default: work.wait, within which each of them does)'),
}).superRefine(({ phases }, context) => {
  for (const [index, { name, faults = [] }] of phases.entries()) {
    if (phases.findIndex((other) => other.name === name) < index)
      context.addIssue({
        code: 'custom',
        path: ['phases', index, 'name'],
        message: `${JSON.stringify(name)} is the name of another phase: give each its own`,
      })
    for (const [at, rule] of faults.entries()) {
      if (faults.findIndex((other) => other.name === rule.name) < at)
        context.addIssue({
          code: 'custom',
          path: ['phases', index, 'faults', at, 'name'],
          message: `${JSON.stringify(rule.name)} is the name of another fault of this phase`,
        })
    }
  }
})
export type ScenarioWritten = z.output<typeof scenarioSchema>

export interface Phase {
  readonly name: string
  readonly forMs: number
  /** Null: the path in force otherwise. */
  readonly hops: readonly Hop[] | null
  readonly rules: readonly FaultRule[]
  readonly expect: readonly Expectation[]
}
export interface Scenario {
  readonly name: string
  readonly phases: readonly Phase[]
  readonly expect: readonly Expectation[]
  readonly stopWhen: readonly Expectation[]
  /** Null: as long as calls wait for their work reports. */
  readonly settleMs: number | null
}

export type ReadHops = (path: readonly unknown[]) => { readonly hops: readonly Hop[] } | { readonly problems: readonly Problem[] }

/** Problems are placed from the scenario on: `['phases', 0, 'path', 0, 'hop']`. */
export function scenarioOf(
  written: ScenarioWritten,
  readHops: ReadHops,
): { readonly scenario: Scenario } | { readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const phases = written.phases.map((phase, index): Phase => {
    const read = phase.path === undefined ? { hops: null } : readHops(phase.path)
    if ('problems' in read)
      problems.push(...read.problems.map(({ path, message }) => ({ path: ['phases', index, 'path', ...path], message })))
    return {
      name: phase.name,
      forMs: msOf(phase.for),
      hops: 'hops' in read ? read.hops : [],
      rules: phase.faults ?? [],
      expect: expectationsOf(phase.expect),
    }
  })
  if (problems.length > 0) return { problems }
  return {
    scenario: {
      name: written.name,
      phases,
      expect: expectationsOf(written.expect),
      stopWhen: expectationsOf(written.stopWhen),
      settleMs: written.settle === undefined ? null : msOf(written.settle),
    },
  }
}

/** The schema let only readable ones through. */
const expectationsOf = (texts: readonly string[] = []): readonly Expectation[] =>
  texts.flatMap((text) => {
    const read = parseExpectation(text)
    return 'problem' in read ? [] : [read]
  })

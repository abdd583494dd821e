/** The recording and alerting rules: promtool's own checks, their stories, and metrics that exist. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { METRICS } from '../../src/sinks/metrics/index.ts'
import { peerTest } from '../support/peers.ts'
import { parsePromql } from '../support/promql.ts'
import { ROOT } from '../support/source-tree.ts'

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly annotations?: { readonly summary?: string; readonly description?: string }
}
interface Stories {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[]
  }[]
}

const FOLDER = join(ROOT, 'dashboards/rules')
const named = (pattern: RegExp): string[] => readdirSync(FOLDER).filter((name) => pattern.test(name))
const read = <T>(name: string): T => parse(readFileSync(join(FOLDER, name), 'utf8')) as T
const rules = named(/\.(rules|alerts)\.yaml$/).flatMap((name) =>
  read<{ groups: { rules: Rule[] }[] }>(name).groups.flatMap((group) => group.rules),
)
const alerts = rules.flatMap(({ alert }) => (alert === undefined ? [] : [alert]))

peerTest('promtool', 'promtool check rules', (promtool) => {
  const said = execFileSync(promtool, ['check', 'rules', ...named(/\.(rules|alerts)\.yaml$/)], { cwd: FOLDER, encoding: 'utf8' })
  expect(said.match(/SUCCESS: 7 rules found/g)).toHaveLength(2)
})
peerTest('promtool', 'promtool test rules [boards.rules-tested]', (promtool) => {
  expect(execFileSync(promtool, ['test', 'rules', ...named(/\.test\.yaml$/)], { cwd: FOLDER, encoding: 'utf8' })).toContain('SUCCESS')
})
test('each alert has a story in which it fires [boards.rules-tested]', () => {
  const told = named(/\.test\.yaml$/).flatMap((name) => read<Stories>(name).tests.flatMap((each) => each.alert_rule_test ?? []))
  const firing = new Set(told.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname))
  expect(alerts.filter((alert) => !firing.has(alert))).toEqual([])
  expect(alerts.length).toBe(7)
})
test('rules name metrics and labels that exist, alerts say what is wrong and what to do [boards.real-metrics]', () => {
  const recorded = new Set(rules.flatMap(({ record }) => (record === undefined ? [] : [record])))
  const about = new Map(METRICS.map((metric) => [`impatient_${metric.name}`, metric]))
  const strange = rules.flatMap(({ expr }) => {
    const { selected, errorsAt } = parsePromql(expr)
    const wrong = selected.flatMap(({ metric, matchers }) => {
      if (recorded.has(metric)) return []
      const known = about.get(metric.replace(/_bucket$/, ''))
      if (known === undefined) return [metric]
      return matchers.map(({ label }) => label).filter((label) => !known.labels.includes(label))
    })
    return [...errorsAt.map((at) => `offset ${at}`), ...wrong].map((what) => `${what} in ${expr}`)
  })
  expect(strange).toEqual([])
  const silent = rules.filter(({ alert, annotations }) => alert !== undefined && !(annotations?.summary && annotations.description))
  expect(silent).toEqual([])
})

/** PromQL as a tree, by Prometheus' own grammar: what a query selects, from which functions' hands, and where it does not parse. */
import { parser } from '@prometheus-io/lezer-promql'

export interface Matcher {
  readonly label: string
  readonly op: string
  readonly value: string
}

export interface Selected {
  readonly metric: string
  readonly matchers: readonly Matcher[]
  /** `5m`; null: now. */
  readonly window: string | null
  /** The functions around it, innermost first. */
  readonly functions: readonly string[]
}

export interface Query {
  /** Offsets at which it does not parse. */
  readonly errorsAt: readonly number[]
  readonly selected: readonly Selected[]
  /** Labels named in `by`, `on` and `without`. */
  readonly grouped: readonly string[]
}

type Node = ReturnType<ReturnType<typeof parser.parse>['resolve']>

export function parsePromql(expr: string): Query {
  const tree = parser.parse(expr)
  const textOf = ({ from, to }: { from: number; to: number }): string => expr.slice(from, to)
  const errorsAt: number[] = []
  const selected: Selected[] = []
  const grouped: string[] = []
  tree.iterate({
    enter(ref) {
      if (ref.type.isError) errorsAt.push(ref.from)
      if (ref.name === 'LabelName' && ref.node.parent?.name === 'GroupingLabels') grouped.push(textOf(ref))
      if (ref.name === 'VectorSelector') selected.push(selectedBy(ref.node, textOf))
    },
  })
  return { errorsAt, selected, grouped }
}

function selectedBy(node: Node, textOf: (of: { from: number; to: number }) => string): Selected {
  const metric = node.getChild('Identifier')
  const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => {
    const [label, op, value] = [matcher.getChild('LabelName'), matcher.getChild('MatchOp'), matcher.getChild('StringLiteral')]
    if (label === null || op === null || value === null) throw new Error(`half a matcher: ${textOf(matcher)}`)
    return { label: textOf(label), op: textOf(op), value: textOf(value).slice(1, -1) }
  })
  const matrix = node.parent?.name === 'MatrixSelector' ? node.parent : null
  const window = matrix?.getChild('DurationExpr') ?? null
  const functions: string[] = []
  for (let up = node.parent; up !== null; up = up.parent) {
    const named = up.name === 'FunctionCall' ? up.getChild('FunctionIdentifier') : null
    if (named !== null) functions.push(textOf(named))
  }
  return { metric: metric === null ? '' : textOf(metric), matchers, window: window === null ? null : textOf(window), functions }
}

/** Grafana's variables as a reader would have chosen them: everything. */
export function fillVariables(expr: string, chosen: Readonly<Record<string, string>> = {}): string {
  const values: Readonly<Record<string, string>> = {
    ...{ __rate_interval: '1m', __range: '1h', __interval: '15s' },
    ...{ job: '.+', instance: '.+', tool: '.+', revision: '.+', split: 'instance', before: '1h' },
    ...chosen,
  }
  return expr.replace(/\$(\w+)/g, (whole, name: string) => values[name] ?? whole)
}

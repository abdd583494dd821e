/** POST, GET and DELETE /api/v1/scenario: an experiment in phases, how it goes, and its early end. */
import type { Problem as Complaint } from '../../hops/shape.ts'
import { placeOf } from '../../hops/shape.ts'
import type { ScenarioReport } from '../../scenario/report.ts'
import type { Scenario } from '../../scenario/schema.ts'
import { scenarioSchema } from '../../scenario/schema.ts'
import { jsonOf, Problem } from '../problem.ts'
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

export interface ScenarioPorts {
  read(json: unknown): { readonly scenario: Scenario } | { readonly problem: Complaint }
  /** Null: it runs; else why it does not. */
  start(scenario: Scenario): string | null
  end(): void
  /** The one that runs, or the last; null: there was none. */
  report(): ScenarioReport | null
}

const path = '/api/v1/scenario'

export function scenarioRoutes({ read, start, end, report }: ScenarioPorts): readonly Route[] {
  const current = (): ScenarioReport => {
    const found = report()
    if (found === null) throw new Problem(404, 'no scenario was started; POST one', { key: 'path' })
    return found
  }
  return [
    {
      method: 'POST',
      path,
      summary: 'Plays a scenario: phases of path and faults, judged by expectations; it ends in pass-through',
      takes: scenarioSchema,
      gives: { status: 202, contentType: 'application/json' },
      answer(request) {
        const made = read(jsonOf(request))
        if ('problem' in made) {
          const key = placeOf(made.problem.path) || 'body'
          throw new Problem(422, `${key}: ${made.problem.message}`, { key })
        }
        const refusal = start(made.scenario)
        if (refusal !== null) throw new Problem(409, refusal, { key: 'name' })
        return jsonAnswer(202, current())
      },
    },
    {
      method: 'GET',
      path,
      summary: 'How the scenario goes, or what the last came to',
      gives: { status: 200, contentType: 'application/json' },
      answer: () => jsonAnswer(200, current()),
    },
    {
      method: 'DELETE',
      path,
      summary: 'Ends the scenario early, in pass-through',
      isUnlimited: true,
      gives: { status: 200, contentType: 'application/json' },
      answer() {
        current()
        end()
        return jsonAnswer(200, current())
      },
    },
  ]
}

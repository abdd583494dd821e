/** GET and POST /api/v1/faults, PATCH and DELETE /api/v1/faults/{name}. */
import { z } from 'zod'
import { isoOf } from '../../core/iso-time.ts'
import type { FaultEntry, Refusal } from '../../faults/control.ts'
import { faultsInForce } from '../../faults/control.ts'
import type { Controller } from '../../faults/controller.ts'
import { faultRuleSchema } from '../../faults/fault-schema.ts'
import type { FaultTally } from '../../faults/memory.ts'
import { jsonOf, Problem } from '../problem.ts'
import type { Route } from '../route.ts'
import { emptyAnswer, jsonAnswer } from '../route.ts'

export interface FaultPorts {
  readonly control: Controller
  tally(fault: string): FaultTally
}

export function faultRoutes({ control, tally }: FaultPorts): readonly Route[] {
  const shown = (entry: FaultEntry): unknown => {
    const { nowMs, wallMs } = control.now()
    const endsAtMs = entry.expiresAtMs === null ? null : wallMs + (entry.expiresAtMs - nowMs)
    return {
      ...entry.rule,
      enabled: entry.rule.enabled ?? true,
      origin: entry.origin,
      expiresAt: endsAtMs === null ? null : isoOf(endsAtMs),
      tally: tally(entry.rule.name),
    }
  }
  const find = (name: string): unknown => {
    const entry = faultsInForce(control.state()).find(({ rule }) => rule.name === name)
    return entry === undefined ? null : shown(entry)
  }
  const path = '/api/v1/faults/{name}'
  return [
    {
      method: 'GET',
      path: '/api/v1/faults',
      summary: 'The faults in force, where each came from, when it ends and how often it matched and acted',
      gives: { status: 200, contentType: 'application/json' },
      answer: () => jsonAnswer(200, { stopped: control.state().isStopped, faults: faultsInForce(control.state()).map(shown) }),
    },
    {
      method: 'POST',
      path: '/api/v1/faults',
      summary: 'Adds a fault; exchanges opened from now on meet it',
      takes: faultRuleSchema,
      gives: { status: 201, contentType: 'application/json' },
      answer(request) {
        const written = jsonOf(request)
        throwRefusal(control.add(written))
        return jsonAnswer(201, find((written as { name: string }).name))
      },
    },
    {
      method: 'PATCH',
      path,
      summary: 'Replaces the keys given, null takes one away; `enabled: false` also takes it away from open exchanges',
      takes: z.record(z.string(), z.unknown()),
      gives: { status: 200, contentType: 'application/json' },
      answer(request) {
        const name = request.params['name'] ?? ''
        throwRefusal(control.patch(name, jsonOf(request)))
        return jsonAnswer(200, find(name))
      },
    },
    {
      method: 'DELETE',
      path,
      summary: 'Takes a fault away, from open exchanges too; answers at once',
      isUnlimited: true,
      gives: { status: 204, contentType: null },
      answer({ params }) {
        throwRefusal(control.remove(params['name'] ?? ''))
        return emptyAnswer(204)
      },
    },
  ]
}

function throwRefusal(refusal: Refusal | null): void {
  if (refusal !== null) throw new Problem(refusal.status, refusal.message, { key: refusal.key })
}

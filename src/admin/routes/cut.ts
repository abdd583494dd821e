/** POST /api/v1/cut */
import type { CutRequest } from '../../faults/cut-filter.ts'
import { cutRequestSchema } from '../../faults/cut-filter.ts'
import { bodyAs } from '../problem.ts'
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

/** Cuts the open exchanges that are meant, as `operator`; answers how many. */
export type CutOpen = (asked: CutRequest) => number

export function cutRoute(cutOpen: CutOpen): Route {
  return {
    method: 'POST',
    path: '/api/v1/cut',
    summary: 'Cuts open streams now, those that match every key given; all: true for whatever is open',
    takes: cutRequestSchema,
    gives: { status: 200, contentType: 'application/json' },
    answer: (request) => jsonAnswer(200, { cut: cutOpen(bodyAs(request, cutRequestSchema)) }),
  }
}

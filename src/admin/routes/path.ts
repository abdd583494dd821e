/** GET, PUT and DELETE /api/v1/path. */
import { z } from 'zod'
import type { Controller } from '../../faults/controller.ts'
import { durationText } from '../../faults/fault-values.ts'
import type { Hop } from '../../hops/hop.ts'
import type { Problem as Complaint } from '../../hops/shape.ts'
import { placeOf, strict } from '../../hops/shape.ts'
import { bodyAs, Problem } from '../problem.ts'
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

/** The path in force, client side first, with its effective limits. */
export type ShowPath = () => unknown
/** Reads a path as the file has it. */
export type ReadPath = (path: readonly unknown[]) => { readonly hops: readonly Hop[] } | { readonly problems: readonly Complaint[] }

const putSchema = strict({
  path: z.array(z.unknown(), { error: 'expected a list of hops such as [{ "hop": "nginx" }]' }).max(20),
  for: durationText.optional().describe("The file's path is in force again afterwards"),
})

export function showPathRoute(show: ShowPath): Route {
  return {
    method: 'GET',
    path: '/api/v1/path',
    summary: 'The hops in force, client side first, and the effective limits',
    gives: { status: 200, contentType: 'application/json' },
    answer: () => jsonAnswer(200, show()),
  }
}

export function setPathRoutes({ show, read, control }: { show: ShowPath; read: ReadPath; control: Controller }): readonly Route[] {
  return [
    {
      method: 'PUT',
      path: '/api/v1/path',
      summary: "Sets the path for exchanges opened from now on, in place of the file's",
      takes: putSchema,
      gives: { status: 200, contentType: 'application/json' },
      answer(request) {
        const asked = bodyAs(request, putSchema)
        const path = read(asked.path)
        if ('problems' in path) throw complaint(path.problems[0])
        control.setPath(path.hops, { for: asked.for })
        return jsonAnswer(200, show())
      },
    },
    {
      method: 'DELETE',
      path: '/api/v1/path',
      summary: "Back to the file's path; the one set here is taken away from open exchanges too",
      isUnlimited: true,
      gives: { status: 200, contentType: 'application/json' },
      answer() {
        control.resetPath()
        return jsonAnswer(200, show())
      },
    },
  ]
}

function complaint(problem: Complaint | undefined): Problem {
  const key = placeOf(['path', ...(problem?.path ?? [])])
  return new Problem(422, `${key}: ${problem?.message ?? 'invalid'}`, { key })
}

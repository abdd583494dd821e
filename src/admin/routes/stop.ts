/** POST /api/v1/stop and /api/v1/resume: the kill switch. */
import type { Controller } from '../../faults/controller.ts'
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

export function stopRoutes(control: Controller): readonly Route[] {
  const route = (name: 'stop' | 'resume', summary: string): Route => ({
    method: 'POST',
    path: `/api/v1/${name}`,
    summary,
    isUnlimited: true,
    gives: { status: 200, contentType: 'application/json' },
    answer() {
      control[name]()
      return jsonAnswer(200, { stopped: control.state().isStopped })
    },
  })
  return [
    route('stop', 'Pass-through for open and new exchanges until resume, whatever the file says'),
    route('resume', 'Path and faults are in force again for exchanges opened from now on'),
  ]
}

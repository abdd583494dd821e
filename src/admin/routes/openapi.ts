/** GET /api/v1/openapi.json */
import { openApiOf } from '../openapi.ts'
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

export function openApiRoute(routes: readonly Route[], version: string): Route {
  const self: Route = {
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'This API as an OpenAPI 3.1 document',
    gives: { status: 200, contentType: 'application/json' },
    answer: () => jsonAnswer(200, openApiOf([...routes, self], version)),
  }
  return self
}

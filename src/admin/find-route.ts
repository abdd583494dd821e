/** Which route a request means: by path, then by method. */
import { Problem } from './problem.ts'
import type { Route } from './route.ts'

export interface FoundRoute {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** HEAD is a GET without its body. Throws `Problem` 404, or 405 with `Allow`. */
export function findRoute(routes: readonly Route[], method: string, pathname: string): FoundRoute {
  const here = routes.flatMap((route) => {
    const params = paramsOf(route.path, pathname)
    return params === null ? [] : [{ route, params }]
  })
  if (here.length === 0) throw new Problem(404, `nothing at ${pathname}; /api/v1/openapi.json lists what there is`, { key: 'path' })
  const wanted = method === 'HEAD' ? 'GET' : method
  const found = here.find(({ route }) => route.method === wanted)
  if (found !== undefined) return found
  const methods = here.map(({ route }) => route.method)
  const allow = [...new Set(methods.includes('GET') ? ['HEAD', ...methods] : methods)].sort().join(', ')
  throw new Problem(405, `${pathname} takes ${allow}, not ${method}`, { key: 'method', headers: { Allow: allow } })
}

function paramsOf(pattern: string, pathname: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const got = pathname.split('/')
  if (wanted.length !== got.length) return null
  const params: Record<string, string> = {}
  for (const [index, step] of wanted.entries()) {
    const value = got[index] ?? ''
    if (!step.startsWith('{')) {
      if (step !== value) return null
      continue
    }
    const decoded = decode(value)
    if (decoded === null || decoded === '') return null
    params[step.slice(1, -1)] = decoded
  }
  return params
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

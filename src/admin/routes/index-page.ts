/** GET /: a plain page that lists the routes, where no live page is given. */
import type { Route } from '../route.ts'

export function indexPageRoute(routes: readonly Route[]): Route {
  return {
    method: 'GET',
    path: '/',
    summary: 'This page',
    gives: { status: 200, contentType: 'text/html' },
    answer: () => ({
      status: 200,
      contentType: 'text/html; charset=utf-8',
      headers: { 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'" },
      body: pageOf(routes),
    }),
  }
}

function pageOf(routes: readonly Route[]): string {
  const rows = routes.map(({ method, path, summary }) => {
    const shown = method === 'GET' && !path.includes('{') ? `<a href="${path}">${path}</a>` : path
    return `<tr><td>${method}</td><td>${shown}</td><td>${escaped(summary)}</td></tr>`
  })
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>impatient-hop</title>',
    '<style>body{font:16px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}td,th{padding:.2rem 1rem .2rem 0;text-align:left}</style>',
    '<h1>impatient-hop</h1><table><thead><tr><th>Method<th>Path<th>What it does</tr></thead><tbody>',
    ...rows,
    '</tbody></table></html>\n',
  ].join('\n')
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

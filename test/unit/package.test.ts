/** What `npm pack` puts into the package: the built command, the probe that servers import, the presets. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/source-tree.ts'

interface Packed {
  readonly files: readonly { readonly path: string }[]
}

test('the package carries what its users run and import, and is built before it is packed [cli.package]', { timeout: 60_000 }, () => {
  const { scripts, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
    exports: Record<string, Record<string, string>>
  }
  expect(scripts['prepack']).toMatch(/build$/)
  // The scripts are left out: `npm test` has built already, and their words would stand in the JSON.
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT, encoding: 'utf8' })
  const packed = JSON.parse(said) as readonly Packed[] | Readonly<Record<string, Packed>>
  const paths = Object.values(packed).flatMap(({ files }) => files.map(({ path }) => path))
  const wanted = ['dist/main.js', 'dist/work/probe.js', 'config/hops/nginx.yaml', 'config/impatient-hop.schema.json']
  expect(wanted.filter((path) => !paths.includes(path))).toEqual([])
  for (const path of Object.values(exports['./probe'] ?? {})) expect(paths).toContain(path.replace('./', ''))
  expect(paths.filter((path) => path.startsWith('src/') || path.startsWith('test/'))).toEqual([])
})

/** The committed boards as a test reads them: panels that show something, and their queries. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { boardFiles } from '../../src/dashboards/files.ts'
import { ROOT } from './source-tree.ts'

export interface Target {
  readonly refId: string
  readonly expr: string
  readonly instant?: boolean
  readonly legendFormat?: string
  readonly format?: string
  readonly exemplar?: boolean
  readonly datasource?: { readonly uid?: string; readonly type?: string }
}

export interface PanelJson {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: { readonly uid?: string; readonly type?: string }
  readonly targets?: readonly Target[]
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } }
}

export interface VariableJson {
  readonly name: string
  readonly type: string
  readonly label?: string
  readonly multi?: boolean
  readonly allValue?: string
  readonly refresh?: number
  readonly definition?: string
  readonly query?: unknown
  readonly datasource?: { readonly uid?: string }
}

export interface BoardJson {
  readonly uid: string
  readonly title: string
  readonly editable: boolean
  readonly tags: readonly string[]
  readonly refresh: string
  readonly graphTooltip: number
  readonly links: readonly { readonly type: string; readonly tags: readonly string[]; readonly includeVars: boolean }[]
  readonly panels: readonly PanelJson[]
  readonly templating: { readonly list: readonly VariableJson[] }
  readonly annotations: {
    readonly list: readonly { readonly name: string; readonly expr: string; readonly datasource?: { readonly uid?: string } }[]
  }
}

export const boardFile = (name: string): string => readFileSync(join(ROOT, 'dashboards', name), 'utf8')

export const boards = (): readonly BoardJson[] => boardFiles().map(({ name }) => JSON.parse(boardFile(name)) as BoardJson)

/** Rows are titles. */
export const shownPanels = (board: BoardJson): readonly PanelJson[] => board.panels.filter(({ type }) => type !== 'row')

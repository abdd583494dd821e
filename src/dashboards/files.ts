/** The boards as files: name and text. */
import { ANNOTATIONS, PANELS } from '../sinks/metrics/index.ts'
import { BOARDS } from './boards.ts'
import { boardText, buildBoard } from './build.ts'

export interface BoardFile {
  /** In dashboards/. */
  readonly name: string
  readonly text: string
}

export const boardFiles = (): readonly BoardFile[] =>
  BOARDS.map((board) => ({
    name: `${board.uid}.json`,
    text: boardText(buildBoard(board, { panels: PANELS, annotations: ANNOTATIONS })),
  }))

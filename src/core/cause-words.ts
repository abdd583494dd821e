/** The causes of cuts as people name them, for the summary and the tables. */
import type { CallRecord } from './record.ts'
import type { CauseKind } from './signal.ts'

/** The limit behind a cause: `idle` of `idle_timeout`. */
export function limitInWords(cause: CauseKind): string {
  switch (cause) {
    case 'idle_timeout':
      return 'idle'
    case 'header_timeout':
      return 'headers'
    case 'max_duration':
      return 'total'
    case 'client_send':
      return 'client send'
    default:
      return cause.replaceAll('_', ' ')
  }
}

/** `nginx idle`, of what shadow mode would have cut. */
export const wouldCutInWords = ({ hop, cause }: CallRecord['wouldCut'][number]): string => `${hop} ${limitInWords(cause)}`.trim()

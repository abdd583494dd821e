/** The revisions of the protocol, and what sets them apart: in which of them a close cancels, and what is defined at all. */

export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

/** Sessions, GET streams, resumption, `notifications/cancelled` over HTTP. */
export const SESSION_REVISIONS: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
/** No sessions: closing a response stream cancels its request. */
export const CLOSING_REVISIONS: readonly Revision[] = ['2026-07-28']

/** The one known here; a later one is read like the latest, an unknown one gives null. */
export function knownRevision(revision: string | null): Revision | null {
  if (revision === null || !/^\d{4}-\d\d-\d\d$/.test(revision)) return null
  return REVISIONS.find((known) => known === revision) ?? (revision > '2026-07-28' ? '2026-07-28' : null)
}

/** A disconnect cancels; there is no notification for it. Dates compare as text. */
export const cancelsByClosing = (revision: string | null): boolean => revision !== null && revision >= '2026-07-28'

/** What the ledger, the journal and the sinks promise. */
export const ledgerRequirements = {
  'ledger.raw-ids': 'JSON-RPC ids and tokens are told as raw JSON text: 0, strings, numbers above 2^53, last in the object or not',
  'ledger.headers-decide': 'In 2026-07-28 the headers tell kind, method and tool before the body comes',
} as const

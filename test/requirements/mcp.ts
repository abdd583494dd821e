/** What is promised about understanding MCP in every revision. */
export const mcpRequirements = {
  'mcp.traces': 'Recorded traffic of the SDKs, replayed, gives the expected meaning, cause, violations and notices for each',
  'mcp.legal-traffic': 'Legal traffic of the SDKs breaks no rule',
  'mcp.live-legal': 'The SDKs of both generations, driven live through the sidecar over their features, break no rule',
  'mcp.rules': 'Each rule has a severity by revision, a one-line explanation and its section of the specification',
  'mcp.rule-broken': 'Each rule that is broken is told on the record, and counted by rule and revision',
  'mcp.ids': 'Ids 0, strings, above 2^53, the same at two clients, last in the object, in arguments too: the envelope’s is read',
  'mcp.retries': 'A call issued again after a cut is recognised by who asks and what, not by its id',
  'mcp.duplicate-work':
    'A call issued again while the server still worked on the first counts as duplicate work, harm told by the tools list',
  'mcp.undelivered': 'A call issued again whose result was there and never reached the client is told so',
  'mcp.storms': 'Retry storms and endless reconnects are told by name',
  'mcp.resumption': 'A stream taken up by Last-Event-ID is joined to its call',
  'mcp.http-sse': 'The answer that comes on the GET of 2024-11-05 is joined to its call',
  'mcp.subscriptions': 'A listen stream’s acknowledgement, keepalives, graceful end and loss are told apart; it is never orphan work',
  'mcp.tasks': 'A call answered by a task is delegated; polls, cancels and the end are followed; what a cut could not destroy is told',
  'mcp.round-trips': 'An input_required result ends its exchange, and the call that follows is no retry',
  'mcp.stale': 'Messages for a cancelled request are counted, and passed on',
  'mcp.diagnosis': 'A client that gave up by its default is told so in a sentence',
  'mcp.bounded': 'Many exchanges leave what is kept flat; quiet sessions are forgotten',
} as const

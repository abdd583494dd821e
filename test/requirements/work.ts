/** What work reports promise: trace context, matching, receivers, probes. */
export const workRequirements = {
  'work.trace-kept': 'the incoming trace id is kept and the server gets a span of ours, sampled',
  'work.splice-bytewise': 'the traceparent is spliced into params._meta without altering another byte',
  'work.ancestor': 'a span belongs to the call whose own, header or _meta span is its ancestor in the same trace',
  'work.http-span-links': 'HTTP server spans link parents to children and never count as work',
  'work.children-first': 'spans that arrive before their ancestors wait for them, a bounded time',
  'work.thousand-share-a-trace': '1,000 concurrent calls that share one trace id are told apart',
  'work.never-guessed': 'reports are narrowed by id, tool and session; more than one call left is ambiguous, never guessed',
  'work.batch-told-apart': 'the calls of a batch are told apart',
  'work.descendants-extend': 'descendants of a counted span extend the work',
  'work.linked-trace': 'spans of a linked trace extend the work',
  'work.matchers': 'configured matchers count spans of servers without MCP spans',
  'work.refused': 'reports that begin before the call or end far ahead are counted and refused',
  'work.duplicate': 'ends told more than 2 s after the first are duplicate and change nothing',
  'work.expired': 'a report for a call that settled without one is counted as expired',
  'work.probe-problem': 'a bad probe message is a 400 naming the key, what was expected and what came',
} as const

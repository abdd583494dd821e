/** What work reports promise: trace context, matching, receivers, probes. */
export const workRequirements = {
  'work.trace-kept': 'the incoming trace id is kept and the server gets a span of ours, sampled',
  'work.splice-bytewise': 'the traceparent is spliced into params._meta without altering another byte',
} as const

/** What is promised about real clients, servers and the official suite. */
export const peerRequirements = {
  'peer.sdk-same':
    'SDK v1 (stateful, stateless, JSON) and v2 servers with both clients: tools, errors, progress, resources and prompts give through what they give direct',
  'peer.sdk-cancel': 'Cancelling a call does through what it does direct, to the client and to the work of the server',
  'peer.sdk-subscribe': 'Subscriptions of either revision tell through what they tell direct',
  'peer.progress-live': 'Progress arrives as it is made',
  'peer.conformance':
    'The official server scenarios of 2025-11-25 and 2026-07-28 give, scenario by scenario, the same through the sidecar as direct',
} as const

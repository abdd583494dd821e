/** What is promised about real clients, servers and the official suite. */
export const peerRequirements = {} as const

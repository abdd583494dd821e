/** What is promised of presets beside the real programs. */
export const hopsPeerRequirements = {
  'peer.hops-as-real':
    'A preset beside the real nginx, haproxy, apache, caddy and varnish, at the same limits: status, terminator, fin or rst on both sides, bytes and times are theirs',
  'peer.hops-known-differences': 'A difference that is not listed with its reason fails, and so does a listed one that is gone',
  'hops.reset-noticed': 'The reset that a write provokes on a connection whose client closed its side is noticed before the next write',
} as const

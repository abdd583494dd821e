/** Who listens to what, looked up by kind: most facts concern few, and the others are not even asked. */

/** Those of `all` that want this kind, in their order; each kind is looked at once. */
export function byKind<Kind extends string, Listener>(
  all: readonly Listener[],
  wants: (listener: Listener, kind: Kind) => boolean,
): (kind: Kind) => readonly Listener[] {
  const known = new Map<Kind, readonly Listener[]>()
  function look(kind: Kind): readonly Listener[] {
    const wanting = all.filter((listener) => wants(listener, kind))
    known.set(kind, wanting)
    return wanting
  }
  return (kind) => known.get(kind) ?? look(kind)
}

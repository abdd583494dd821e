/** The line without seats does what any line does of no plans, whatever it is told. The seed is in the failure. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EndsOf } from '../../src/core/empty-line.ts'
import { createEmptyLine } from '../../src/core/empty-line.ts'
import type { Ends, Line } from '../../src/core/ends.ts'
import { createLine } from '../../src/core/line.ts'
import type { Cause } from '../../src/core/signal.ts'
import { asked, done, gone, half, left, raw, request, sse } from '../support/line-rig.ts'

const operator: Cause = { kind: 'operator', seat: null }

type Step = (line: Line, atMs: number) => void
const steps: Readonly<Record<string, Step>> = {
  request: (line, atMs) => line.fromClient(request, atMs),
  upload: (line, atMs) => line.fromClient(raw('abc'), atMs),
  asked: (line, atMs) => line.fromClient(asked, atMs),
  half: (line, atMs) => line.fromClient(half, atMs),
  left: (line, atMs) => line.fromClient(left('fin'), atMs),
  reset: (line, atMs) => line.fromClient(left('rst'), atMs),
  head: (line, atMs) => line.fromServer(sse, atMs),
  event: (line, atMs) => line.fromServer(raw('data: x\n\n'), atMs),
  done: (line, atMs) => line.fromServer(done, atMs),
  gone: (line, atMs) => line.fromServer(gone('fin'), atMs),
  goneByReset: (line, atMs) => line.fromServer(gone('rst'), atMs),
  clientBlocked: (line, atMs) => line.pressed('client', true, atMs),
  clientFree: (line, atMs) => line.pressed('client', false, atMs),
  serverBlocked: (line, atMs) => line.pressed('server', true, atMs),
  serverFree: (line, atMs) => line.pressed('server', false, atMs),
  order: (line, atMs) => line.order('rst', operator, atMs),
  release: (line, atMs) => line.release(new Set(['x']), atMs),
  wake: (line, atMs) => line.wake(atMs),
}

const endsFor = (ends: EndsOf<string>, owner: string): Ends => ({
  toClient: (signal, atMs) => ends.toClient(owner, signal, atMs),
  toServer: (signal, atMs) => ends.toServer(owner, signal, atMs),
  hold: (from, isHeld) => ends.hold(owner, from, isHeld),
  closed: (cause, ending, atMs) => ends.closed(owner, cause, ending, atMs),
})

/** `answersAtOnce`: the server's end answers while it is being told. */
function played(names: readonly string[], isEmptyOne: boolean, answersAtOnce: boolean): unknown[] {
  const did: unknown[] = []
  const ends: EndsOf<string> = {
    toClient: (of, signal, atMs) => did.push([of, 'toClient', signal, atMs]),
    toServer(of, signal, atMs) {
      did.push([of, 'toServer', signal, atMs])
      if (answersAtOnce && signal.is === 'asked') for (const reply of [sse, done]) line.fromServer(reply, atMs)
      did.push(['was told', signal.is]) // an answer given meanwhile has gone on by now
    },
    hold: (of, from, isHeld) => did.push([of, 'hold', from, isHeld]),
    closed: (of, cause, ending, atMs) => did.push([of, 'closed', cause, ending, atMs]),
  }
  const line: Line = isEmptyOne ? createEmptyLine(ends, 'x') : createLine([], endsFor(ends, 'x'), () => 0)
  line.open(0)
  for (const [at, name] of names.entries()) {
    steps[name]?.(line, at)
    did.push([name, line.wakeAtMs(), line.heldBytes(), line.isEmpty()])
  }
  return did
}

test('any steps in any order: the same goes out, is held and is told [bench.empty-line]', () => {
  const told = fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 30 })
  fc.assert(
    fc.property(told, fc.boolean(), (names, answersAtOnce) => {
      expect(played(names, true, answersAtOnce)).toEqual(played(names, false, answersAtOnce))
    }),
    { numRuns: 3_000 },
  )
})

/** Holds the response back as a buffering proxy does. */
import { z } from 'zod'
import type { SeatPlan } from '../core/seat.ts'
import { bufferSeat } from '../hops/buffer.ts'
import type { Buffering } from '../hops/hop.ts'
import { oneOf, strict } from '../hops/shape.ts'
import { fired } from './body-shape.ts'
import { faultKind, seat } from './fault.ts'
import { bytesOfSize, durationText, msOf, sizeText } from './fault-values.ts'

const schema = strict({
  mode: oneOf('full', 'bytes', 'time', 'one-behind', 'gzip'),
  size: sizeText.optional().describe('bytes: whole pages of this size; 4KiB unless given'),
  every: durationText.optional().describe('time: released so long after the first held byte; 1s unless given'),
  holdHeaders: z.boolean().optional(),
}).superRefine(({ mode, size, every }, context) => {
  if (size !== undefined && mode !== 'bytes')
    context.addIssue({ code: 'custom', path: ['size'], message: `size belongs to mode bytes, not ${mode}` })
  if (every !== undefined && mode !== 'time')
    context.addIssue({ code: 'custom', path: ['every'], message: `every belongs to mode time, not ${mode}` })
  if (size !== undefined && bytesOfSize(size) < 1)
    context.addIssue({ code: 'custom', path: ['size'], message: 'expected a size of 1 byte or more' })
})

function modeOf({ mode, size = '4KiB', every = '1s' }: z.output<typeof schema>): Buffering['mode'] {
  if (mode === 'bytes') return { bytes: bytesOfSize(size) }
  if (mode === 'time') return { everyMs: msOf(every) }
  return mode === 'gzip' ? { gzip: 'held' } : mode
}

function buffer(name: string, buffering: Buffering): SeatPlan {
  const plan = bufferSeat(name, buffering, () => false)
  return {
    name,
    sit(out, random) {
      const inner = plan.sit(out, random)
      let hasFired = false
      return {
        ...inner,
        fromServer(signal, atMs) {
          if (!hasFired && signal.is === 'piece') {
            hasFired = true
            fired(out)
          }
          inner.fromServer?.(signal, atMs)
        },
      }
    },
  }
}

export const bufferFault = faultKind({
  key: 'buffer',
  docs: 'Holds the response: until it ends, by pages, by time, one event behind, or as a compressor does.',
  at: 'server',
  schema,
  deed: (name, asked) => seat(buffer(name, { mode: modeOf(asked), holdHeaders: asked.holdHeaders ?? false, atCut: 'flush', honours: [] })),
})

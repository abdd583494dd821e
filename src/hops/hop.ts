/** A hop as data, after its file was read: durations in ms, sizes in bytes, presets and defaults filled in. */
import type { Answer } from '../core/answer.ts'
import type { Break, Ending } from '../core/signal.ts'

export type Confidence = 'measured' | 'documented' | 'reported'

/** What the server sees of a limit's cut: told at once by a break, after so many of its writes, or never. */
export type UpstreamManner = Break | 'none' | { readonly afterWrites: number }

/** When a limit is reached: the answer if this hop passed no head on (`null`: a bare close by `ending`), else the ending. */
export interface Limit {
  readonly afterMs: number
  readonly answer: Answer | null
  /** `silent`: dropped without a word; the next packet of either side meets a reset. */
  readonly ending: Ending | 'silent'
  readonly upstream: UpstreamManner
}
export interface IdleLimit extends Limit {
  readonly counts: 'bytes' | 'events' | 'progress'
  readonly direction: 'response' | 'both'
  /** The timer is not re-armed by traffic sooner than this after its last arming; 0: by all traffic. */
  readonly rearmMs: number
}
export interface TotalLimit extends Limit {
  /** Since the request's last byte, or since the response's head. */
  readonly from: 'request' | 'headers'
  /** `next-write`: once due, the cut waits for the server's next write. */
  readonly at: 'deadline' | 'next-write'
}
export interface ClientSendLimit {
  readonly afterMs: number
  readonly ending: Ending | 'silent'
  readonly upstream: UpstreamManner
}

export type AbortManner = 'at-once' | 'never' | { readonly afterWrites: number }

export type BufferMode =
  | 'none'
  | 'full'
  | 'one-behind'
  | { readonly bytes: number }
  | { readonly everyMs: number }
  | { readonly gzip: 'held' | 'flushed' | 'head-then-held' }

export interface Buffering {
  readonly mode: BufferMode
  /** `sized`: only where the head promises a Content-Length. */
  readonly holdHeaders: boolean | 'sized'
  readonly atCut: 'flush' | 'headers' | 'answer'
  /** A body of a promised length is held in whole pages of that size instead, and treated so at a cut. Absent: as any other. */
  readonly sized?: { readonly bytes: number; readonly atCut: 'flush' | 'headers' | 'answer' }
  /** Header names (lower case) whose value `no` switches buffering off. */
  readonly honours: readonly string[]
}

export interface RequestManner {
  /** Collected whole before it is passed on. */
  readonly buffer: boolean
  readonly bodyMaxBytes: number | null
  readonly retry: null | { readonly on: readonly ('timeout' | 'loss')[]; readonly tries: number }
}

export interface Hop {
  /** Unique in its path: `path[1]:nginx`. */
  readonly name: string
  /** The preset's name, or `custom`: what metrics and records say. */
  readonly preset: string
  readonly connect?: { readonly afterMs: number; readonly answer: Answer | null }
  readonly headers?: Limit | 'none' // 'none': no limit on the wait, not even `idle`
  readonly idle?: IdleLimit
  readonly total?: TotalLimit
  readonly clientSend?: ClientSendLimit
  readonly buffering?: Buffering
  /** Absent: a leaving is passed on as it came, a FIN as a FIN. */
  readonly clientAbort?: {
    readonly midStream: AbortManner
    readonly beforeHeaders: AbortManner
    readonly halfClose: 'abort' | 'tolerate' | 'forward'
    readonly upstream: Break
  }
  /** Absent: a loss is passed on as it came, a reset as a reset, and whoever is further out answers. */
  readonly upstreamLoss?: {
    /** The connection to the server was refused. Absent: as `beforeHeaders`. */
    readonly refused?: Answer | null
    readonly beforeHeaders: Answer | null
    readonly midStream: Record<Break, 'truncate' | 'clean'>
  }
  readonly request?: RequestManner
}

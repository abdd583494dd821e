/** The configuration in force, immutable; an exchange keeps the one it opened with. */
import type { FaultRule, Safety } from '../faults/fault-schema.ts'
import type { Hop } from '../hops/hop.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export type Mode = 'act' | 'shadow'
export type AfterCut = 'hang-up' | 'drain'
/** What carries requests to the server. */
export type UpstreamEngine = 'http-proxy' | 'direct'
export type Inject = 'header' | 'meta' | 'both' | 'none'

/** A span that counts as work: by an attribute's value, or by its name with `*` for any text. */
export type SpanMatch = { readonly attribute: string; readonly equals: string } | { readonly name: string }

export interface WorkSettings {
  readonly graceMs: number
  readonly afterCut: AfterCut
  readonly waitMs: number
  readonly inject: Inject
  /** Besides spans with `mcp.method.name`. Absent: none. */
  readonly match?: readonly SpanMatch[]
}

/** What of the configuration an exchange needs; replaced whole by a reload or a control call. */
export interface Snapshot {
  readonly mode: Mode
  readonly path: readonly Hop[]
  readonly work: WorkSettings
  readonly seed: number
}

/** Everything `run` needs, read once at the start. `null`: off. */
export interface Settings {
  readonly listen: Address
  /** An origin; its path is empty. */
  readonly upstream: URL
  /** Absent: `http-proxy`. */
  readonly upstreamEngine?: UpstreamEngine
  readonly admin: { readonly listen: Address; readonly token: string | null }
  readonly metrics: { readonly listen: Address | null; readonly toolsMax: number }
  /** `isDefault`, `isGrpcDefault`: the user did not ask for this port, so a taken one is a warning. */
  readonly otlp: {
    readonly listen: Address | null
    readonly grpc: Address | null
    readonly forwardTo: URL | null
    readonly isDefault: boolean
    readonly isGrpcDefault: boolean
  }
  readonly events: { readonly file: string | '-'; readonly bytesMax: number } | null
  readonly drainMs: number
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'; readonly format: 'text' | 'json' }
  readonly limits: { readonly heldBytesPerExchange: number; readonly heldBytesTotal: number }
  readonly snapshot: Snapshot
  /** Absent: none, and nothing capped. */
  readonly faults?: { readonly rules: readonly FaultRule[]; readonly safety: Safety }
  /** The file it came from, for reloads and messages; null: flags and defaults only. */
  readonly file: string | null
  /** The scenario that is played from the start; absent: none. */
  readonly scenario?: string
}

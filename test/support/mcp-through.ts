/** A sidecar without hops or faults in front of a test server: where a client connects to go through it. */
import { wireRig } from './wire-rig.ts'

export interface Through {
  /** `http://127.0.0.1:PORT/mcp` */
  readonly url: URL
  readonly port: number
}

export async function startThrough(upstream: URL): Promise<Through> {
  const { port } = await wireRig(upstream, { inject: 'header' })
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), port }
}

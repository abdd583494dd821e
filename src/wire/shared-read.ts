/** One buffer that all plain connections to the server are read into: Node would allocate 64 KB for each read, whatever came. */
import type { OnReadOpts, Socket } from 'node:net'
import type { ChunkLane, ChunkTakers } from './chunk-lane.ts'
import { beginChunkLane, readByChunks } from './chunk-lane.ts'

/** As much as Node reads at once. */
const READ_BYTES_MAX = 65_536
const shared = Buffer.allocUnsafeSlow(READ_BYTES_MAX)
/** What is being told of a read; null: nothing is. */
let current: Buffer | null = null

const LANE = Symbol('what reads before the parser')
type LanedSocket = Socket & { [LANE]?: ChunkLane | null }

/**
 * For `net.connect`. The socket emits `data` as ever, but what it emits is gone with the return: Node's HTTP parser copies what it tells of a body.
 * Not for a socket that is handed on, for who has it next may keep what was read, or read before it listens.
 */
export const SHARED_READ: OnReadOpts = {
  buffer: shared,
  callback(this: unknown, bytes) {
    const socket = this as LanedSocket
    const piece = shared.subarray(0, bytes)
    const lane = socket[LANE]
    if (lane != null) readByLane(socket, lane, piece)
    else {
      current = piece
      socket.emit('data', piece)
      current = null
    }
    return true
  },
}

function readByLane(socket: LanedSocket, lane: ChunkLane, piece: Buffer): void {
  readByChunks(lane, piece, socket)
  if (lane.isOver) socket[LANE] = null
}

/**
 * The head of a chunked answer was read just now: its whole chunks, from the next read on, are told to `takers` at once.
 * `bytesBefore`: what the socket had read before this answer; where that is not all but this one read, all stays as it is.
 */
export function takeWholeChunks<Owner>(socket: Socket, bytesBefore: number, takers: ChunkTakers<Owner>, owner: Owner): void {
  if (current === null || socket.bytesRead - current.length !== bytesBefore) return
  ;(socket as LanedSocket)[LANE] = beginChunkLane(current, takers, owner)
}

/** Tasks (2025-11-25 and the extension of 2026-07-28): calls answered by a handle, and those who ask after it. */
import type { CallView, Moment } from '../ledger-view.ts'
import type { Member, Talker, TellTalker } from './peers.ts'
import { boundMap, recordIdOf, rememberToken } from './peers.ts'

interface Task {
  /** The record of the call that was answered by it. */
  readonly of: string
  readonly handedOutMs: number
  isOver: boolean
}

export interface Tasks<T> {
  /** A request that may be about a task. */
  asked(talker: T, call: CallView, atMs: number): void
  /** An answer told of a task. */
  answered(talker: T, member: Member<T>, moment: Extract<Moment, { readonly is: 'task' }>, atMs: number): void
  /** A request about a task was given up. */
  cut(talker: T, call: CallView, atMs: number): void
  count(): number
}

const TASKS_MAX = 10_000

export function createTasks<T extends Talker>(tell: TellTalker<T>): Tasks<T> {
  const tasks = new Map<string, Task>() // the one not heard of for longest first

  function find(taskId: string | null): Task | null {
    const task = taskId === null ? undefined : tasks.get(taskId)
    if (taskId === null || task === undefined) return null
    tasks.delete(taskId)
    tasks.set(taskId, task)
    return task
  }
  const remark = (talker: T, text: string, atMs: number): void => tell(talker, { kind: 'joined', atMs, join: { is: 'remark', text } })

  return {
    asked(talker, { taskId, method }, atMs) {
      const task = find(taskId)
      if (task === null || taskId === null) return
      tell(talker, { kind: 'joined', atMs, join: { is: 'task', of: task.of, taskId } })
      if (method === 'tasks/cancel') remark(talker, `asks to cancel the task of ${task.of}`, atMs)
    },
    answered(talker, { seats }, { call, taskId, status }, atMs) {
      if (call.isTask) {
        tasks.set(taskId, { of: recordIdOf(talker, call), handedOutMs: atMs, isOver: false })
        boundMap(tasks, TASKS_MAX)
        // Its progress may come on other streams for as long as it runs.
        if (call.progressToken !== null) for (const { peer } of seats) rememberToken(peer, call.progressToken)
        return
      }
      const task = find(taskId)
      const end = call.method === 'tasks/result' ? 'its result is here' : isEnd(status) ? `it is ${status}` : null
      if (task === null || task.isOver || end === null) return
      task.isOver = true
      remark(
        talker,
        `the task of ${task.of} is over: ${end}, ${((atMs - task.handedOutMs) / 1_000).toFixed(1)} s after it was handed out`,
        atMs,
      )
    },
    cut(talker, { taskId, requestId }, atMs) {
      const task = find(taskId)
      if (task === null || task.isOver) return
      const detail = `the task of ${task.of} lives on`
      tell(talker, { kind: 'joined', atMs, join: { is: 'broke', rule: 'task-survives-cut', requestId, detail } })
    },
    count: () => tasks.size,
  }
}

const isEnd = (status: string | null): boolean => status === 'completed' || status === 'failed' || status === 'cancelled'

/** What a process and its children use, from /proc: CPU seconds and resident memory. */
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** The fields of /proc/PID/stat after the name, which may hold spaces. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null // it has ended, or this system has no /proc
  }
}

/** The process and all that descend from it. */
export function familyOf(pid: number): readonly number[] {
  let all: string[] = []
  try {
    all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return [pid]
  }
  const parents = all.map((name) => ({ pid: Number(name), parent: Number(statOf(Number(name))?.[1] ?? 0) }))
  const family = new Set([pid])
  for (let before = 0; before !== family.size; ) {
    before = family.size
    for (const one of parents) if (family.has(one.parent)) family.add(one.pid)
  }
  return [...family]
}

export interface CpuUse {
  readonly userS: number
  readonly systemS: number
}

export function cpuOf(pids: readonly number[]): CpuUse {
  let user = 0
  let system = 0
  for (const pid of pids) {
    const stat = statOf(pid)
    user += Number(stat?.[11] ?? 0)
    system += Number(stat?.[12] ?? 0)
  }
  return { userS: user / TICKS_PER_SECOND, systemS: system / TICKS_PER_SECOND }
}

export function rssKbOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0)
    } catch {
      return sum
    }
  }, 0)
}

/** Busy ticks of all cores: what others use while we measure shows here. */
export function machineBusyS(): number {
  try {
    const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = (readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? '')
      .trim()
      .split(/\s+/)
      .slice(1)
      .map(Number)
    return (user + nice + system + irq + soft) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

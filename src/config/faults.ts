/** The faults of a file: names once each, and none that the file's own safety settings keep out. */
import type { FaultRule, Safety } from '../faults/fault-schema.ts'
import { refusalOf } from '../faults/fault-schema.ts'
import type { SettingsFile } from './file.ts'

export interface FaultsRead {
  readonly rules: readonly FaultRule[]
  readonly safety: Safety
  /** `FILE:LINE faults[1].for: …` */
  readonly errors: readonly string[]
}

export function readFaults(file: SettingsFile | null): FaultsRead {
  const { faults: rules = [], safety = {} } = file?.settings ?? {}
  const errors = rules.flatMap((rule, index) => {
    const same = rules.findIndex(({ name }) => name === rule.name)
    const twice = same < index ? [`name: ${JSON.stringify(rule.name)} is already the name of faults[${same}]: give each its own`] : []
    const refusal = refusalOf(rule, safety)
    return [...twice, ...(refusal === null ? [] : [refusal])].map((problem) => {
      const key = problem.slice(0, problem.indexOf(':'))
      return `${file?.placeOf(`faults[${index}].${key}`, ['faults', index, key]) ?? ''}${problem.slice(key.length)}`
    })
  })
  return { rules, safety, errors }
}

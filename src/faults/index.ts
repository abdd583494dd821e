/** Every kind of fault. Adding one: its file, and its line here. */
import { bandwidthFault } from './bandwidth.ts'
import { bufferFault } from './buffer.ts'
import { cutFault } from './cut.ts'
import { delayFault } from './delay.ts'
import { dropFault } from './drop.ts'
import { duplicateFault } from './duplicate.ts'
import type { FaultKind } from './fault.ts'
import { halfOpenFault } from './half-open.ts'
import { headerTimeoutFault } from './header-timeout.ts'
import { headersFault } from './headers.ts'
import { hideDisconnectFault } from './hide-disconnect.ts'
import { idleTimeoutFault } from './idle-timeout.ts'
import { latencyFault } from './latency.ts'
import { malformFault } from './malform.ts'
import { maxDurationFault } from './max-duration.ts'
import { refuseFault } from './refuse.ts'
import { respondFault } from './respond.ts'
import { sliceFault } from './slice.ts'
import { stallFault } from './stall.ts'

export const FAULT_KINDS: readonly FaultKind[] = [
  idleTimeoutFault,
  maxDurationFault,
  headerTimeoutFault,
  bufferFault,
  cutFault,
  stallFault,
  halfOpenFault,
  latencyFault,
  bandwidthFault,
  sliceFault,
  respondFault,
  dropFault,
  duplicateFault,
  delayFault,
  malformFault,
  headersFault,
  hideDisconnectFault,
  refuseFault,
]

/** The Python probe, as `probe --print python` prints it: one file, standard library only. */
import { readFileSync } from 'node:fs'

/** The same distance from `src/work` and from `dist/work`. */
const FILE = new URL('../../config/probe/impatient_hop_probe.py', import.meta.url)

/** The whole file. Throws where the package is incomplete. */
export const readPythonProbe = (): string => readFileSync(FILE, 'utf8')

/** How a command ends, as scripts and CI read it. */

/** 0: fine. 1: an expectation failed or stayed inconclusive. 2: bad usage or configuration. 3: could not run. */
export type ExitCode = 0 | 1 | 2 | 3

/** What a command is: one file each in this room, one line each in commands.ts. */
import type { Flag } from '../config/flags.ts'
import type { FlagValues } from '../config/given.ts'
import type { ExitCode } from './exit-code.ts'
import type { World } from './world.ts'

export interface Positional {
  readonly name: string
  readonly isRequired?: true
  readonly says: string
  /** For completion; the command itself decides what it takes. */
  readonly choices?: () => readonly string[]
}

/** A flag without a value. */
export interface Switch {
  readonly name: string
  readonly says: string
}

export interface CommandArguments {
  readonly positionals: Readonly<Record<string, string | undefined>>
  readonly flags: FlagValues
  readonly switches: ReadonlySet<string>
}

export interface Command {
  readonly name: string
  /** Taken where no command is named. */
  readonly isDefault?: true
  readonly says: string
  readonly positionals?: readonly Positional[]
  readonly flags?: readonly Flag[]
  readonly switches?: readonly Switch[]
  /** The line after `impatient-hop `, and what it does; at least one. */
  readonly examples: readonly (readonly [line: string, does: string])[]
  run(args: CommandArguments, world: World): Promise<ExitCode>
}

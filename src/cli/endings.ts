// Endings of a command: a result, a refusal, or wrong usage.

import { HeliographError } from '#src/client/error'

export const EXIT = { ok: 0, refused: 1, usage: 2 } as const

/** The command line is wrong. The message never repeats a value that may be a secret. */
export class UsageError extends Error {}

/** The command could not do its work. The message holds no secret. */
export class CommandError extends Error {}

export interface Ending {
  readonly exitCode: number
  /** For the person. */
  readonly lines: readonly string[]
}

/** Turns a thrown error into an ending for the person who ran the command. Throws defects on. */
export function endingOf(error: unknown): Ending {
  if (error instanceof UsageError) {
    return { exitCode: EXIT.usage, lines: [`error: ${error.message}`] }
  }
  if (error instanceof CommandError) {
    return { exitCode: EXIT.refused, lines: [`error: ${error.message}`] }
  }
  if (error instanceof HeliographError) {
    return { exitCode: EXIT.refused, lines: [`${error.code}: ${error.message}`, ...hints(error)] }
  }
  // A file or folder that cannot be used; the system's own sentence names it.
  if (error instanceof Error && 'syscall' in error) {
    return { exitCode: EXIT.refused, lines: [`error: ${error.message}`] }
  }
  throw error
}

function hints({ code, status, retryable, retryAfterMs, requestId }: HeliographError): string[] {
  const hint: string[] = []
  if (code === 'connection_failed') {
    hint.push('is it running, and is --url right? `heliograph serve` starts a gateway')
  } else if (retryAfterMs !== undefined) {
    hint.push(`try again in ${Math.ceil(retryAfterMs / 1000)} s`)
  } else if (retryable) {
    hint.push('try again later')
  }
  if (status >= 500 && requestId !== undefined) hint.push(`request id ${requestId}`)
  return hint
}

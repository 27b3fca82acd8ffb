// A command ends with a result, a refusal or wrong usage. docs/cli.md has the table of exit
// codes; a test keeps both equal.
//
// Invariants:
//   endings/1. One failure is one sentence on the standard error output: the field, and the remedy.

import { HeliographError } from '#src/client/error'
import { onOneLine } from './terminal-text.ts'

export const EXIT = {
  ok: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  credentials: 4,
  notFound: 5,
  busy: 6,
  timeout: 7,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The command line is wrong. The message never repeats a value that may be a secret. */
export class UsageError extends Error {}

/** The command could not do its work. The message holds no secret. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode = EXIT.refused) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Why a command failed, in the names of `--json`. */
export interface Ending {
  readonly exit_code: ExitCode
  readonly code: string
  readonly message: string
  /** The next step to take. */
  readonly hint?: string | undefined
  readonly retryable?: boolean
  readonly retry_after_ms?: number | undefined
  readonly request_id?: string | undefined
}

/** Turns a thrown error into an ending for the person who ran the command. Throws defects again. */
export function endingOf(error: unknown): Ending {
  if (error instanceof UsageError) {
    return { exit_code: EXIT.usage, code: 'usage', message: error.message }
  }
  if (error instanceof CommandError) {
    return { exit_code: error.exitCode, code: 'error', message: error.message }
  }
  if (error instanceof HeliographError) return refusalOf(error)
  if (error instanceof Error && 'syscall' in error) {
    return { exit_code: EXIT.refused, code: 'error', message: fileSentence(error) }
  }
  throw error
}

/** A person can remove these reasons. The system names each by a code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'no such folder',
  EACCES: 'you may not use it',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk can only be read',
}

/** Why a file or folder cannot be used. */
export function fileReason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException // Only its members are read.
  return REASONS[code] ?? message
}

/** The system's own sentence for what is no file, for instance a program that cannot be run. */
function fileSentence(error: Error): string {
  const { syscall = '', path = 'the file' } = error as NodeJS.ErrnoException
  if (!/^(open|read|write|mkdir|rename|scandir)$/.test(syscall)) return error.message
  return `cannot ${syscall} ${path}: ${fileReason(error)}`
}

/** An ending, or a failure behind which a command goes on, as one line. (endings/1) */
export function endingLine({
  code,
  message,
  hint,
}: Pick<Ending, 'code' | 'message' | 'hint'>): string {
  const label = code === 'usage' ? 'error' : code
  // A server that is no gateway may say anything.
  return onOneLine(`${label}: ${message}${hint === undefined ? '' : `; ${hint}`}`)
}

function refusalOf(error: HeliographError): Ending {
  const { code, message, status, retryable, retryAfterMs, requestId } = error
  return {
    exit_code: exitCodeOf(error),
    code,
    message,
    hint: hintOf(error),
    retryable,
    retry_after_ms: retryAfterMs,
    ...(status >= 500 && { request_id: requestId }),
  }
}

const CREDENTIALS: ReadonlySet<string> = new Set([
  'authentication_failed',
  'channel_not_found',
  'device_key_not_found',
  'key_expired',
])

/** The exit code for a refusal; docs/cli.md has the table. */
export function exitCodeOf({ code, status, retryable }: HeliographError): ExitCode {
  if (status === 0 || code === 'answer_invalid' || code === 'route_not_found') {
    return EXIT.unreachable
  }
  if (CREDENTIALS.has(code)) return EXIT.credentials
  if (status === 404) return EXIT.notFound
  return retryable ? EXIT.busy : EXIT.refused
}

export const HINTS = {
  not_connected: 'is it running, and is --url right? `heliograph doctor` finds out',
  connection_failed: '`heliograph doctor` finds out why',
  answer_invalid: 'is --url right? `heliograph doctor` finds out',
  route_not_found: 'is --url the address of the gateway alone, as https://push.example?',
  authentication_failed: 'set HELIOGRAPH_TOKEN or name --token-file',
  channel_not_found: 'check --channel and its password',
  device_key_not_found: 'remove the device key file to register anew',
  key_expired: 'whoever has the password makes another by `heliograph key create`',
} as const

function hintOf(error: HeliographError): string | undefined {
  const { code, status, retryable, retryAfterMs, requestId } = error
  const hints: string[] = []
  const known: Readonly<Record<string, string>> = HINTS
  if (known[code] !== undefined) hints.push(known[code])
  else if (retryAfterMs !== undefined) {
    hints.push(`try again in ${Math.ceil(retryAfterMs / 1000)} s`)
  } else if (retryable) hints.push('try again later')
  if (status >= 500 && requestId !== undefined) hints.push(`request id ${requestId}`)
  return hints.length === 0 ? undefined : hints.join('; ')
}

// Reports an unexpected error to the operator without its secrets.
//
// A report has no message: drivers put statements and parameters there, so password hashes and
// tokens.

import { memberOf } from './record.ts'

export interface DefectReport {
  readonly name: string
  /** A driver's or the system's short code, such as SQLITE_BUSY or ECONNREFUSED. */
  readonly code?: string
  readonly frames: readonly string[]
}

const FRAMES_MAX = 12
/**
 * A line that ends in a source location. The message is cut off first, for it may look like a
 * frame.
 */
const FRAME = /^\s+at .*(?::\d+:\d+|<anonymous>|native)\)?$/
const CODE = /^[A-Za-z0-9_.-]{1,64}$/

/** Name, code and stack frames of an error; never its message or its own members. */
export function reportDefect(error: unknown): DefectReport {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] }
  const code = codeOf(error) ?? codeOf(error.cause) ?? codeOf(memberOf(error, 'driverError'))
  const stack = error.stack ?? ''
  const frames = stack
    .slice(Math.max(0, stack.indexOf(error.message)) + error.message.length)
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, FRAMES_MAX)
    .map((line) => line.trim())
  return { name: error.name, ...(code === undefined ? {} : { code }), frames }
}

function codeOf(value: unknown): string | undefined {
  const code = memberOf(value, 'code')
  return typeof code === 'string' && CODE.test(code) ? code : undefined
}

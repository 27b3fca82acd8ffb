// What of an unexpected error may be logged: never its message, where drivers put statements,
// parameters and so tokens.

export interface ErrorReport {
  readonly name: string
  readonly code?: string
  /** The places of the stack, innermost first. */
  readonly frames: readonly string[]
}

const FRAMES_MAX = 8
const FRAME = /^\s+at .*:\d+:\d+\)?$/
const CODE = /^[A-Za-z0-9_.-]{1,64}$/

export function reportOf(error: unknown): ErrorReport {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] }
  const code: unknown = 'code' in error ? error.code : undefined
  const stack = error.stack ?? ''
  // A message that looks like a stack frame is cut off with the rest of the message.
  const behindMessage = stack.slice(stack.indexOf(error.message) + error.message.length)
  const frames = behindMessage.split('\n').filter((line) => FRAME.test(line))
  return {
    name: error.name,
    ...(typeof code === 'string' && CODE.test(code) && { code }),
    frames: frames.slice(0, FRAMES_MAX).map((line) => line.trim()),
  }
}

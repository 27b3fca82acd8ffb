// Writes log lines: one JSON line a fact, by pino.

import { pino } from 'pino'

import type { Logger } from '#domain/telemetry'

interface LogOptions {
  readonly level: string
  /** Fields that every line of this process or thread carries. */
  readonly base: Readonly<Record<string, unknown>>
}

/**
 * Writes each line to standard output at once, so that the last lines of a process are not lost.
 */
export function createLogger({ level, base }: LogOptions): Logger {
  const logger = pino(
    { level, base, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'fact' },
    pino.destination({ dest: 1, sync: true }),
  )
  return {
    debug: (fact, fields) => logger.debug(fields ?? {}, fact),
    info: (fact, fields) => logger.info(fields ?? {}, fact),
    warn: (fact, fields) => logger.warn(fields ?? {}, fact),
    error: (fact, fields) => logger.error(fields ?? {}, fact),
  }
}

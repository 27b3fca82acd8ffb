// The loggers of simulated processes.

import type { Logger } from '#domain/telemetry'

/** Shows every line to `trace`; without one, nobody reads them. */
export function loggerFor(name: string, trace: ((line: string) => void) | undefined): Logger {
  const lines =
    (level: string) =>
    (fact: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      trace?.(`${name} ${level} ${fact} ${JSON.stringify(fields)}`)
  return {
    debug: lines('debug'),
    info: lines('info'),
    warn: lines('warn'),
    error: lines('error'),
  }
}

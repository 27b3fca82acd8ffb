// Writes the progress of an import as one line of a terminal.

export interface Progress {
  readonly rows: number
  readonly rejected: number
  readonly bytes: number
  /** Undefined when the size of the input is unknown. */
  readonly totalBytes: number | undefined
  readonly elapsedMs: number
}

const BAR_WIDTH = 24

/** The line, at most `columns` characters. */
export function progressLine(progress: Progress, columns: number): string {
  const { rows, rejected, bytes, totalBytes, elapsedMs } = progress
  const perSecond = elapsedMs > 0 ? (rows * 1000) / elapsedMs : 0
  const counts = `${count(rows)} rows  ${count(Math.round(perSecond))}/s`
  const rejects = rejected > 0 ? `  ${count(rejected)} rejected` : ''
  if (totalBytes === undefined || totalBytes === 0) return `${counts}${rejects}`.slice(0, columns)
  const share = Math.min(1, bytes / totalBytes)
  const filled = Math.floor(share * BAR_WIDTH)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
  const percent = `${Math.floor(share * 100)} %`.padStart(5)
  const left = share > 0 ? `  ${duration((elapsedMs * (1 - share)) / share)} left` : ''
  return `${bar} ${percent}  ${counts}${rejects}${left}`.slice(0, columns)
}

const count = (value: number): string => value.toLocaleString('en-US')

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

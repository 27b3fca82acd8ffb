// The delay of a publication: a duration in the words of the tool, or a time.

const UNIT_MS: readonly (readonly [form: RegExp, ms: number])[] = [
  [/^(s|secs?|seconds?)$/, 1_000],
  [/^(m|mins?|minutes?)$/, 60_000],
  [/^(h|hrs?|hours?)$/, 3_600_000],
  [/^(d|days?)$/, 86_400_000],
]
const DURATION = /^(\d{1,7})\s*([a-z]+)$/
const UNIX_TIME = /^\d{9,13}$/
const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(z|[+-]\d{2}:\d{2})$/i
/** Times below this are seconds. */
const MILLISECONDS_FROM = 1_000_000_000_000

/**
 * Unix milliseconds of `30m`, `2 hours`, a Unix time or an ISO 8601 date with its zone; undefined
 * for anything else. Words such as `tomorrow` depend on a time zone, which nobody names.
 */
export function readDelay(sent: string, nowMs: number): number | undefined {
  const text = sent.trim().toLowerCase()
  const [, count, unit] = DURATION.exec(text) ?? []
  if (count !== undefined && unit !== undefined) {
    const ms = UNIT_MS.find(([form]) => form.test(unit))?.[1]
    return ms === undefined ? undefined : nowMs + Number(count) * ms
  }
  if (UNIX_TIME.test(text)) {
    const time = Number(text)
    return time < MILLISECONDS_FROM ? time * 1000 : time
  }
  const time = DATE.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(time) ? undefined : time
}

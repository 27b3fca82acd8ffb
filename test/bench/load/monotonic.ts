// A clock that all processes of one machine share, so that one may write a time and another read
// it.

const offsetUs = Number(process.hrtime.bigint() / 1_000n) - performance.now() * 1_000

/** Microseconds of the system's monotonic clock. */
export const monotonicUs = (): number => Math.floor(offsetUs + performance.now() * 1_000)

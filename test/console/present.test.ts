import test from 'ava'

import { nowMs, settingPresent } from '#console/state/present.ts'

const HOUR_MS = 3_600_000
const TOLD_MS = Date.parse('2026-05-01T08:00:00Z')

/** The answer to a request that leaves and comes back at two times of this computer's clock. */
async function answered(date: string | null, askedMs: number, backMs: number): Promise<number> {
  const times = [askedMs, backMs]
  const answer = { ok: true, status: 200, text: async () => '', headers: { get: () => date } }
  const fetch = settingPresent(
    async () => answer,
    () => times.shift() ?? 0,
  )
  await fetch('http://gateway.example/')
  return Math.round((nowMs() - Date.now()) / 1_000)
}

test.serial('the present is that of the gateway as far as its answers tell it', async (t) => {
  const told = new Date(TOLD_MS).toUTCString()
  const rows: readonly (readonly [expected: number, ...answer: Parameters<typeof answered>])[] = [
    [0, null, TOLD_MS + HOUR_MS, TOLD_MS + HOUR_MS],
    [0, 'not a date', TOLD_MS + HOUR_MS, TOLD_MS + HOUR_MS],
    // Within the time that the answer took and what the header leaves open.
    [0, told, TOLD_MS - 100, TOLD_MS + 900],
    [0, told, TOLD_MS + 1_900, TOLD_MS + 14_000],
    [3_600, told, TOLD_MS - HOUR_MS - 50, TOLD_MS - HOUR_MS],
    [3_600, told, TOLD_MS - HOUR_MS + 500, TOLD_MS - HOUR_MS + 600],
    [-3_598, told, TOLD_MS + HOUR_MS, TOLD_MS + HOUR_MS + 50],
    [0, told, TOLD_MS, TOLD_MS],
  ]
  for (const [index, [expected, ...answer]] of rows.entries()) {
    t.is(await answered(...answer), expected, `row ${index}`)
  }
})

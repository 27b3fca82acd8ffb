// The present time, for the page and for its workers. It is that of the gateway, since ages and
// late values count by its clock; the clock of this computer may be hours off.

import type { Fetch } from '#src/client/runtime'

/** A Date header has whole seconds, and the gateway renews it once a second. */
const HEADER_AGE_MAX_MS = 2_000

/** How far the gateway's clock is ahead of this computer's, as far as its answers have told. */
let aheadMs = 0

/** Unix milliseconds, by the clock of this computer. */
export const ownMs = (): number => Date.now()

/** The time of the gateway at a time of this computer, both in Unix milliseconds. */
export const presentAt = (own: number): number => own + aheadMs

/** Unix milliseconds. */
export const nowMs = (): number => presentAt(ownMs())

/** Returns a fetch whose answers set the present time, by their Date header. */
export const settingPresent =
  (fetch: Fetch, clockMs = ownMs): Fetch =>
  async (...request) => {
    const askedMs = clockMs()
    const answer = await fetch(...request)
    const toldMs = Date.parse(answer.headers.get('date') ?? '')
    if (!Number.isNaN(toldMs)) {
      const [least, most] = [toldMs - clockMs(), toldMs + HEADER_AGE_MAX_MS - askedMs]
      aheadMs = Math.min(Math.max(aheadMs, least), most)
    }
    return answer
  }

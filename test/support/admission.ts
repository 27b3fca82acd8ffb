// The gateway's admission of sessions, for a token of the test.

import type { SessionAdmission } from '#domain/ports'
import { createBudget } from '#src/acceptance/budget'
import type { Budget } from '#src/acceptance/budget'
import { CallerCheck } from '#src/acceptance/caller-check'
import { tokenCheck } from '#src/acceptance/gateway-token'
import { sessionAdmission } from '#src/acceptance/devices/session-admission'

/** A budget that no test exhausts. */
const AMPLE = createBudget({ perAddress: 1_000_000, total: 1_000_000 }, () => 0)

export const admissionFor = (token: string, budget: Budget = AMPLE): SessionAdmission =>
  sessionAdmission(new CallerCheck(tokenCheck(token), budget))

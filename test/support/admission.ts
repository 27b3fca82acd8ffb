// The gateway's check of callers, for a token of the test.

import type { SessionAdmission } from '#domain/ports'
import { Audit } from '#src/acceptance/audit'
import type { BudgetLimits } from '#src/acceptance/budget'
import { CallerCheck } from '#src/acceptance/caller-check'
import { tokenCheck } from '#src/acceptance/gateway-token'
import { PasswordBudget } from '#src/acceptance/password-budget'
import { FakeLogger } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { sessionAdmission } from '#src/acceptance/devices/device-identity'

/** A budget that no test exhausts. */
const AMPLE = { perAddress: 1_000_000, total: 1_000_000 }

export const callerCheckFor = (token: string, limits: BudgetLimits = AMPLE): CallerCheck =>
  new CallerCheck(
    tokenCheck(token),
    new PasswordBudget(limits, () => 0),
    new Audit({ logger: new FakeLogger(), timers: new FakeTime(0) }),
  )

export const admissionFor = (token: string, limits?: BudgetLimits): SessionAdmission =>
  sessionAdmission(callerCheckFor(token, limits))

// Admits devices to sessions: checks the caller, then the key. (Specification: Gateway token)

import { isFault } from '#domain/fault'
import type { SessionAdmission } from '#domain/ports'
import { deviceIdOf } from './device-identity.ts'
import type { CallerCheck, Guard } from '#src/acceptance/caller-check'

/** Without a gateway token every caller passes: a session takes no channel password. */
const GUARD: Guard = { token: 'required', budget: 'none' }

/** Returns the device that a hello names, or the refusal of the check. */
export const sessionAdmission =
  (callerCheck: CallerCheck): SessionAdmission =>
  ({ deviceKey, gatewayToken }, peer) => {
    const admitted = callerCheck.admit(GUARD, peer, peer.authorization, gatewayToken)
    return isFault(admitted) ? admitted : deviceIdOf(deviceKey)
  }

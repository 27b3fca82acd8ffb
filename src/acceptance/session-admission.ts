// Who may have a session: the gate and the key of the device. (Specification: Gateway token)

import { isFault } from '#domain/fault'
import type { SessionAdmission } from '#domain/ports'
import { deviceIdOf } from './device-identity.ts'
import type { Gate, Guard } from './gate.ts'

/** Without a gateway token everybody may: a session takes no channel password. */
const GUARD: Guard = { token: 'required', budget: 'none' }

/** Gives the device that a hello names, or the refusal of the gate. */
export const sessionAdmission =
  (gate: Gate): SessionAdmission =>
  ({ deviceKey, gatewayToken }, peer) => {
    const admitted = gate.admit(GUARD, peer, peer.authorization, gatewayToken)
    return isFault(admitted) ? admitted : deviceIdOf(deviceKey)
  }

// The carriers of device sessions. Settings, sessions, metrics and the profile read this list.

/** Every carrier of the session protocol. (decisions.md 10) */
export const CARRIERS = ['wss', 'tcp', 'quic'] as const

export type CarrierName = (typeof CARRIERS)[number]

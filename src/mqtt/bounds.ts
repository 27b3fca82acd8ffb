// What one client may send and hold. docs/mqtt.md says so to its users.

/** Publishes of one client that may be on their way to the log: its Receive Maximum. */
export const RECEIVE_MAX = 64
/** Publishes at QoS 2 whose PUBREL has not come, for clients that know no Receive Maximum. */
export const UNRELEASED_MAX = 1_024
/**
 * Publishes of a kept session that are remembered, since they may come again: at QoS 1 a client
 * never says that it has its acknowledgement.
 */
export const REMEMBERED_MAX = 2 * RECEIVE_MAX
/** Subscriptions of one client. */
export const SUBSCRIPTIONS_MAX = 100
/** Topic aliases that a client may set. */
export const TOPIC_ALIAS_MAX = 32
/** Bytes of a will, topic and payload: it is kept as long as its connection. */
export const WILL_BYTES_MAX = 4_096
/** Milliseconds from the connection to CONNECT, and from that to its answer. */
export const CONNECT_WITHIN_MS = 8_000
export const OPEN_WITHIN_MS = 30_000
/** Bytes held for a client that reads nothing: beyond the first it is not read, then it is cut. */
export const HELD_PAUSE = 64 * 1_024
export const HELD_MAX = 2 ** 20
/** The same for all clients of a process together. */
export const HELD_TOTAL_MAX = 64 * 2 ** 20
/** Milliseconds in which a client for which so much is held has to take some of it. */
export const TAKES_WITHIN_MS = 30_000

// Metrics and log lines for the operator. One list has every metric.
//
// No secret (channel password, token, device key, provider token) is given to either.

interface MetricShape {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]

/** Every metric, under the name that it has at GET /metrics behind `heliograph_`. */
export const METRICS = {
  accepted_total: { kind: 'counter', help: 'Submissions answered 200', labels: ['model'] },
  refused_total: { kind: 'counter', help: 'Requests refused, by error code', labels: ['code'] },
  tool_calls_total: { kind: 'counter', help: 'Calls of MCP tools', labels: ['tool'] },
  accept_seconds: {
    kind: 'histogram',
    help: 'From the whole body to the answer of a submission',
    labels: [],
    buckets: SECONDS,
  },
  http_connections: {
    kind: 'gauge',
    help: 'Open connections on which requests can come',
    labels: [],
  },
  requests_in_flight: { kind: 'gauge', help: 'HTTP requests not yet answered', labels: [] },
  mounted_streams: {
    kind: 'gauge',
    help: 'Answers that mounted handlers are streaming',
    labels: [],
  },
  feed_streams: {
    kind: 'gauge',
    help: 'Channels that subscribers of compatibility routes follow',
    labels: [],
  },
  request_body_bytes: {
    kind: 'gauge',
    help: 'Bytes of request bodies that are still arriving',
    labels: [],
  },
  answer_unread_bytes: {
    kind: 'gauge',
    help: 'Bytes of large answers that their readers have not taken yet',
    labels: [],
  },
  answers_cut_total: {
    kind: 'counter',
    help: 'Large answers cut because their readers took too long',
    labels: [],
  },
  page_reads_waiting: {
    kind: 'gauge',
    help: 'Requests for pages that wait for a place',
    labels: [],
  },
  batch_submissions: {
    kind: 'histogram',
    help: 'Submissions in one appended batch',
    labels: [],
    buckets: SIZES,
  },
  lane_in_flight_bytes: {
    kind: 'gauge',
    help: 'Bytes waiting for the log at ingress, all lanes',
    labels: [],
  },
  unapplied_submissions: {
    kind: 'gauge',
    help: 'Submissions accepted here and not yet known to be applied',
    labels: [],
  },
  credential_cache_entries: {
    kind: 'gauge',
    help: 'Verified and refused credentials held',
    labels: [],
  },
  password_budget_addresses: {
    kind: 'gauge',
    help: 'Addresses that the password budget counts in this minute, 21,200 at most by default',
    labels: [],
  },
  known_keys: { kind: 'gauge', help: 'Channel keys that need not be looked up', labels: [] },
  key_lookups_waiting: { kind: 'gauge', help: 'Channel keys being looked up', labels: [] },
  password_checks_waiting: { kind: 'gauge', help: 'scrypt computations waiting', labels: [] },
  log_bytes: { kind: 'gauge', help: 'Bytes held by the embedded log', labels: [] },
  stream_pending_bytes: {
    kind: 'gauge',
    help: 'Bytes sent to the JetStream log and not yet confirmed',
    labels: [],
  },
  stream_appends_retried_total: {
    kind: 'counter',
    help: 'Appends sent again to the JetStream log',
    labels: [],
  },
  stream_appends_unknown_total: {
    kind: 'counter',
    help: 'Appends for which JetStream did not say in time whether it has them',
    labels: [],
  },
  stream_appends_found_late_total: {
    kind: 'counter',
    help: 'Appends of unknown outcome that turned up in the JetStream log',
    labels: [],
  },
  stream_tail_bytes: {
    kind: 'gauge',
    help: 'Bytes fetched from the JetStream log and not yet applied',
    labels: [],
  },
  leases_held: { kind: 'gauge', help: 'Lane leases that this process holds', labels: [] },
  bus_unsent_total: {
    kind: 'counter',
    help: 'Announcements and notices not sent because NATS was away',
    labels: ['what'],
  },
  lane_lag_submissions: {
    kind: 'gauge',
    help: 'Submissions in the log not yet applied, of the lanes that this process applies',
    labels: [],
  },
  turn_seconds: { kind: 'histogram', help: 'One turn of the actors', labels: [], buckets: SECONDS },
  turn_submissions: {
    kind: 'histogram',
    help: 'Submissions applied in one turn',
    labels: [],
    buckets: SIZES,
  },
  turns_retried_total: { kind: 'counter', help: 'Turns that had to be taken again', labels: [] },
  dead_letters_total: { kind: 'counter', help: 'Submissions set aside after a defect', labels: [] },
  live_rules: { kind: 'gauge', help: 'Rules of the channels with a live actor', labels: [] },
  rule_firings_total: { kind: 'counter', help: 'Changes that rules made', labels: ['result'] },
  rule_failures_total: { kind: 'counter', help: 'Evaluations of rules that failed', labels: [] },
  lanes_with_deadlines: { kind: 'gauge', help: 'Owned lanes in which something waits', labels: [] },
  deadline_late_seconds: {
    kind: 'histogram',
    help: 'From the time at which something was due to its commit',
    labels: [],
    buckets: SECONDS,
  },
  parked_channels: {
    kind: 'gauge',
    help: 'Channels whose rows the database refuses, in the lanes that this process applies',
    labels: [],
  },
  submissions_parked_total: {
    kind: 'counter',
    help: 'Submissions that wait with a parked channel',
    labels: [],
  },
  operations_total: { kind: 'counter', help: 'Operations ended, by status', labels: ['status'] },
  live_actors: { kind: 'gauge', help: 'Channel actors awake', labels: [] },
  cached_entities: { kind: 'gauge', help: 'Things and Events held by actors', labels: [] },
  store_queue: { kind: 'gauge', help: 'Database jobs waiting', labels: [] },
  store_driver_fallback: {
    kind: 'gauge',
    help: 'Pools of connections that send statements by the driver alone, one after the other',
    labels: [],
  },
  store_retries_total: {
    kind: 'counter',
    help: 'Database jobs done again after a deadlock or a lost connection',
    labels: [],
  },
  retention_removed_total: { kind: 'counter', help: 'Rows removed by retention', labels: [] },
  sessions: { kind: 'gauge', help: 'Device sessions that are open', labels: ['carrier'] },
  sessions_ended_total: {
    kind: 'counter',
    help: 'Device sessions that the gateway ended, by reason',
    labels: ['carrier', 'reason'],
  },
  device_connections: {
    kind: 'gauge',
    help: 'Open connections of devices, those without a session yet included',
    labels: ['carrier'],
  },
  connections_refused_total: {
    kind: 'counter',
    help: 'Connections of devices that ended before they had a session, by reason',
    labels: ['carrier', 'reason'],
  },
  deliveries_total: { kind: 'counter', help: 'Entries sent to devices', labels: ['mode'] },
  sessions_behind: {
    kind: 'gauge',
    help: 'Channels of sessions that wait for catch-up',
    labels: [],
  },
  session_buffered_bytes: {
    kind: 'gauge',
    help: 'Bytes held for devices that have not read them',
    labels: [],
  },
  session_recent_bytes: {
    kind: 'gauge',
    help: 'Bytes of frames kept for sessions that are a little behind',
    labels: [],
  },
  sessions_sent_away_total: {
    kind: 'counter',
    help: 'Sessions told to come back, since too much was held for devices that do not read',
    labels: [],
  },
  session_reads_waiting: {
    kind: 'gauge',
    help: 'Reads of sessions that wait for a place',
    labels: [],
  },
  acknowledgements_waiting: {
    kind: 'gauge',
    help: 'Acknowledged positions not yet written',
    labels: [],
  },
  push_jobs: {
    kind: 'gauge',
    help: 'Jobs for push providers, counted up to 100,000',
    labels: ['provider'],
  },
  push_queue_age_seconds: {
    kind: 'gauge',
    help: 'How long the oldest job that is due has been so',
    labels: ['provider'],
  },
  push_held: { kind: 'gauge', help: 'Pushes that this process has claimed', labels: ['provider'] },
  push_in_flight: {
    kind: 'gauge',
    help: 'Pushes sent to the provider and not answered',
    labels: ['provider'],
  },
  push_concurrency: {
    kind: 'gauge',
    help: 'Pushes that the provider is given at once, at most',
    labels: ['provider'],
  },
  push_circuit_open: {
    kind: 'gauge',
    help: '1 while the provider does not answer and is left alone',
    labels: ['provider'],
  },
  push_credentials_refused: {
    kind: 'gauge',
    help: '1 while the provider refuses the credentials',
    labels: ['provider'],
  },
  push_seconds: {
    kind: 'histogram',
    help: 'From sending a push to the answer of the provider',
    labels: ['provider'],
    buckets: SECONDS,
  },
  pushes_total: { kind: 'counter', help: 'Pushes ended', labels: ['provider', 'outcome'] },
  push_refusals_total: {
    kind: 'counter',
    help: 'Pushes that the provider refused, for good or for now',
    labels: ['provider', 'reason'],
  },
  push_retries_total: {
    kind: 'counter',
    help: 'Pushes put off to be sent again',
    labels: ['provider'],
  },
} as const satisfies Record<string, MetricShape>

export type MetricName = keyof typeof METRICS
type Named<Kind> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never
}[MetricName]
type Labels<Name extends MetricName> = Record<(typeof METRICS)[Name]['labels'][number], string>

/**
 * Takes measurements. Make handles once, at the start: using one is cheap on the hot path. Asking
 * for the same name and labels again returns the same handle, and the handles of a metric are
 * bounded. (meter/1, meter/2)
 */
export interface Meter {
  counter<Name extends Named<'counter'>>(name: Name, labels: Labels<Name>): (by?: number) => void
  histogram<Name extends Named<'histogram'>>(
    name: Name,
    labels: Labels<Name>,
  ): (value: number) => void
  /** `read` is called whenever the metrics are read. */
  gauge<Name extends Named<'gauge'>>(name: Name, labels: Labels<Name>, read: () => number): void
}

/** Writes one line per fact. `fact` is a fixed sentence; `fields` holds the variable parts. */
export interface Logger {
  debug(fact: string, fields?: Readonly<Record<string, unknown>>): void
  info(fact: string, fields?: Readonly<Record<string, unknown>>): void
  warn(fact: string, fields?: Readonly<Record<string, unknown>>): void
  error(fact: string, fields?: Readonly<Record<string, unknown>>): void
}

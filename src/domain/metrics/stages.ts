// The metrics of the stages between the ways in and the push providers.

import { SECONDS, SIZES } from './metric-shape.ts'
import type { MetricShape } from './metric-shape.ts'

export const STAGE_METRICS = {
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
  unapplied_bytes: {
    kind: 'gauge',
    help: 'Estimated bytes of what is kept of these submissions',
    labels: [],
  },
  channel_waiting_submissions: {
    kind: 'gauge',
    help: 'Submissions waiting until earlier ones of their channel are applied',
    labels: [],
  },
  credential_cache_entries: {
    kind: 'gauge',
    help: 'Verified and refused credentials held',
    labels: [],
  },
  credential_cache_bytes: {
    kind: 'gauge',
    help: 'Estimated bytes of these credentials',
    labels: [],
  },
  password_budget_addresses: {
    kind: 'gauge',
    help: 'Addresses that the password budget counts in this minute, 21,200 at most by default',
    labels: [],
  },
  known_keys: { kind: 'gauge', help: 'Channel keys that need not be looked up', labels: [] },
  known_key_bytes: { kind: 'gauge', help: 'Estimated bytes of these keys', labels: [] },
  key_use_bytes: {
    kind: 'gauge',
    help: 'Estimated bytes of the keys whose use on this day is noted',
    labels: [],
  },
  key_lookups_waiting: { kind: 'gauge', help: 'Channel keys being looked up', labels: [] },
  known_mappings: { kind: 'gauge', help: 'Channels whose mappings are known', labels: [] },
  known_mapping_bytes: { kind: 'gauge', help: 'Estimated bytes of their mappings', labels: [] },
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
  compiled_rules: { kind: 'gauge', help: 'Different rules among them', labels: [] },
  rule_firings_total: { kind: 'counter', help: 'Changes that rules made', labels: ['result'] },
  rule_failures_total: { kind: 'counter', help: 'Evaluations of rules that failed', labels: [] },
  deadlines_waiting: {
    kind: 'gauge',
    help: 'Deadlines of the lanes that this process applies, up to 100000 for each',
    labels: [],
  },
  deadlines_put_off_total: {
    kind: 'counter',
    help: 'Deadlines put off because their turn failed again and again',
    labels: [],
  },
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
  cached_bytes: {
    kind: 'gauge',
    help: 'Estimated bytes of the Things, Events and rules held by actors',
    labels: [],
  },
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
} as const satisfies Record<string, MetricShape>

// The metrics of the stages between the ways in and the push providers.

import { SECONDS, SIZES, counter, gauge, histogram } from './metric-shape.ts'
import type { MetricShape } from './metric-shape.ts'

export const STAGE_METRICS = {
  batch_submissions: histogram('Submissions in one appended batch', SIZES),
  lane_in_flight_bytes: gauge('Bytes waiting for the log at ingress, all lanes'),
  unapplied_submissions: gauge('Submissions accepted here and not yet known to be applied'),
  unapplied_bytes: gauge('Estimated bytes of what is kept of these submissions'),
  channel_waiting_submissions: gauge(
    'Submissions waiting until earlier ones of their channel are applied',
  ),
  following_changes: gauge(
    'Changes that rules may make of what is accepted here and not applied, of channels with many',
  ),
  credential_cache_entries: gauge('Verified and refused credentials held'),
  credential_cache_bytes: gauge('Estimated bytes of these credentials'),
  password_budget_addresses: gauge(
    'Addresses that the password budget counts in this minute, 21,200 at most by default',
  ),
  known_keys: gauge('Channel keys that need not be looked up'),
  known_key_bytes: gauge('Estimated bytes of these keys'),
  discovered_attrs_waiting: gauge('Attrs of which devices have spoken, until they are written'),
  key_use_bytes: gauge('Estimated bytes of the keys whose use on this day is noted'),
  key_lookups_waiting: gauge('Channel keys being looked up'),
  channel_exports: gauge('Exports of channels that run now'),
  channel_scrapes: gauge('Scrapes of channels that run now'),
  known_mappings: gauge('Channels whose mappings are known'),
  known_mapping_bytes: gauge('Estimated bytes of their mappings'),
  password_checks_waiting: gauge('scrypt computations waiting'),
  log_bytes: gauge('Bytes held by the embedded log'),
  stream_pending_bytes: gauge('Bytes sent to the JetStream log and not yet confirmed'),
  stream_appends_retried_total: counter('Appends sent again to the JetStream log'),
  stream_appends_unknown_total: counter(
    'Appends for which JetStream did not say in time whether it has them',
  ),
  stream_appends_found_late_total: counter(
    'Appends of unknown outcome that turned up in the JetStream log',
  ),
  stream_tail_bytes: gauge('Bytes fetched from the JetStream log and not yet applied'),
  leases_held: gauge('Lane leases that this process holds'),
  bus_unsent_total: counter('Announcements and notices not sent because NATS was away', 'what'),
  lane_lag_submissions: gauge(
    'Submissions in the log not yet applied, of the lanes that this process applies',
  ),
  turn_seconds: histogram('One turn of the actors', SECONDS),
  turn_submissions: histogram('Submissions applied in one turn', SIZES),
  turns_retried_total: counter('Turns that had to be taken again'),
  turns_cut_total: counter('Turns decided anew with fewer submissions, whose rules made too much'),
  dead_letters_total: counter('Submissions set aside'),
  live_rules: gauge('Rules of the channels with a live actor'),
  compiled_rules: gauge('Different rules among them'),
  rule_firings_total: counter('Changes that rules made', 'result'),
  rule_failures_total: counter('Evaluations of rules that failed'),
  deadlines_waiting: gauge(
    'Deadlines of the lanes that this process applies, up to 100000 for each',
  ),
  deadlines_put_off_total: counter('Deadlines put off because their turn failed again and again'),
  lanes_with_deadlines: gauge('Owned lanes in which something waits'),
  deadline_late_seconds: histogram(
    'From the time at which something was due to its commit',
    SECONDS,
  ),
  refused_channels: gauge(
    'Channels whose rows the database refuses, in the lanes that this process applies',
  ),
  operations_total: counter('Operations ended, by status', 'status'),
  live_actors: gauge('Channel actors awake'),
  cached_entities: gauge('Things and Events held by actors'),
  cached_bytes: gauge('Estimated bytes of the Things, Events and rules held by actors'),
  store_queue: gauge('Database jobs waiting'),
  store_driver_fallback: gauge(
    'Pools of connections that send statements by the driver alone, one after the other',
  ),
  store_retries_total: counter('Database jobs done again after a deadlock or a lost connection'),
  tier_readings_left_out_total: counter('Readings of attrs beyond the 64 of a Thing in the tiers'),
  tier_merges_waiting: gauge('Chunks of tiers that may have to be merged'),
  known_blocks: gauge('Blocks that are not joined of which this process knows the Things'),
  retention_removed_total: counter('Rows removed by retention'),
  sessions: gauge('Device sessions that are open', 'carrier'),
  sessions_ended_total: counter(
    'Device sessions that the gateway ended, by reason',
    'carrier',
    'reason',
  ),
  device_arriving_bytes: gauge(
    'Bytes of unfinished messages from devices, with the most that libraries may hold of them',
    'carrier',
  ),
  device_connections: gauge(
    'Open connections of devices, those without a session yet included',
    'carrier',
  ),
  connections_refused_total: counter(
    'Connections of devices that ended before they had a session, by reason',
    'carrier',
    'reason',
  ),
  deliveries_total: counter('Entries sent to devices', 'mode'),
  sessions_behind: gauge('Channels of sessions that wait for catch-up'),
  session_buffered_bytes: gauge('Bytes held for devices that have not read them'),
  session_recent_bytes: gauge('Bytes of frames kept for sessions that are a little behind'),
  sessions_sent_away_total: counter(
    'Sessions told to come back, since too much was held for devices that do not read',
  ),
  session_reads_waiting: gauge('Reads of sessions that wait for a place'),
  acknowledgements_waiting: gauge('Acknowledged positions not yet written'),
} as const satisfies Record<string, MetricShape>

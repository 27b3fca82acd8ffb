// The metrics of the ways in: what is accepted, refused and answered.

import { SECONDS, counter, gauge, histogram } from './metric-shape.ts'
import type { MetricShape } from './metric-shape.ts'

export const REQUEST_METRICS = {
  accepted_total: counter('Submissions answered 200', 'model'),
  refused_total: counter('Requests refused, by error code', 'code'),
  bridge_publishes_total: counter(
    'Publishes that the bridge acknowledged to its broker, by what became of them',
    'outcome',
  ),
  bridge_retries_total: counter('Times that the bridge waited to submit a publish again'),
  bridge_connected: gauge('Whether the bridge has its broker'),
  device_state_bytes: gauge('Bytes of what devices said of their later publishes', 'by'),
  device_state_forgotten_total: counter(
    'Devices and nodes that said of later publishes what no memory was left for',
    'by',
  ),
  tool_calls_total: counter('Calls of MCP tools', 'tool'),
  accept_seconds: histogram('From the whole body to the answer of a submission', SECONDS),
  http_connections: gauge('Open connections on which requests can come'),
  requests_in_flight: gauge('HTTP requests not yet answered'),
  mounted_streams: gauge('Answers that mounted handlers are streaming'),
  feed_streams: gauge('Channels that subscribers of compatibility routes follow'),
  request_body_bytes: gauge('Bytes of request bodies that are still arriving'),
  answer_unread_bytes: gauge('Bytes of large answers that their readers have not taken yet'),
  answers_compressing: gauge('Answers that are being compressed'),
  answers_cut_total: counter('Large answers cut because their readers took too long'),
  channels_with_refusals: gauge('Channels whose refused submissions are kept in memory'),
  rule_trials: gauge('Trials of rules that run'),
  thing_queries: gauge('Queries of Things that run'),
  page_reads_waiting: gauge('Requests for pages that wait for a place'),
  mqtt_in_flight_bytes: gauge('Bytes of MQTT clients not done with'),
  mqtt_stranger_bytes: gauge('Bytes of MQTT clients without credentials not done with'),
  mqtt_lasting_bytes: gauge('Bytes kept of MQTT clients while their connections live'),
  mqtt_held_bytes: gauge('Bytes held for MQTT clients that have not read them'),
  mqtt_reads_waiting: gauge('Reads for MQTT subscribers that wait for a place'),
  mqtt_unread_connections: gauge('MQTT connections left unread'),
  mqtt_lost_total: counter('Publishes at QoS 0 lost while busy'),
  mqtt_unrecorded_total: counter(
    'Times that the database did not take a publish of a kept MQTT session in time',
  ),
  mqtt_places_refused_total: counter(
    'Kept MQTT sessions, and subscriptions of such, for which a channel or a key had no place',
  ),
  mqtt_wills_waiting: gauge('Wills of MQTT clients in their delay'),
  mqtt_will_bytes: gauge('Estimated bytes that these take'),
} as const satisfies Record<string, MetricShape>

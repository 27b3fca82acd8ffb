// The metrics of the ways in: what is accepted, refused and answered.

import { SECONDS } from './metric-shape.ts'
import type { MetricShape } from './metric-shape.ts'

export const REQUEST_METRICS = {
  accepted_total: { kind: 'counter', help: 'Submissions answered 200', labels: ['model'] },
  refused_total: { kind: 'counter', help: 'Requests refused, by error code', labels: ['code'] },
  bridge_publishes_total: {
    kind: 'counter',
    help: 'Publishes that the bridge acknowledged to its broker, by what became of them',
    labels: ['outcome'],
  },
  bridge_retries_total: {
    kind: 'counter',
    help: 'Times that the bridge waited to submit a publish again',
    labels: [],
  },
  bridge_connected: { kind: 'gauge', help: 'Whether the bridge has its broker', labels: [] },
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
  mqtt_in_flight_bytes: { kind: 'gauge', help: 'Bytes of MQTT clients not done with', labels: [] },
  mqtt_unread_connections: { kind: 'gauge', help: 'MQTT connections left unread', labels: [] },
  mqtt_lost_total: { kind: 'counter', help: 'Publishes at QoS 0 lost while busy', labels: [] },
  mqtt_unrecorded_total: {
    kind: 'counter',
    help: 'Times that the database did not take a publish of a kept MQTT session in time',
    labels: [],
  },
  mqtt_wills_waiting: { kind: 'gauge', help: 'Wills of MQTT clients in their delay', labels: [] },
} as const satisfies Record<string, MetricShape>

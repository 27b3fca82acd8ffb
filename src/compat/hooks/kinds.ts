// The monitoring tools that call hooks: where their payloads say what, one table a kind.

import type { SignedKind } from '#src/schemas/mappings/hook-schemas'
import type { Places } from './reading.ts'
import { bareSecret, hmacSignature } from './signatures.ts'
import type { Signature } from './signatures.ts'

export interface Kind {
  /** The header that names the event, which tables read as the member `$event`. */
  readonly event?: string
  /** The header that is the same when the tool sends a payload again. */
  readonly delivery?: string
  /** The member with a list of alarms; without it a payload is one. Members beside it go along. */
  readonly list?: string
  /** The first table that is for a payload reads it; absent for those of the channel. */
  readonly tables?: readonly Places[]
}

/** What Alertmanager and Grafana have in common. */
const ALERT: Places = {
  title: '{labels.alertname|fingerprint}',
  message: '{annotations.summary|annotations.description|annotations.message}',
  severity: '{labels.severity}',
  thing: '{labels.thing_id}',
  url: '{generatorURL|externalURL}',
  source: '{fingerprint}',
  start: '{startsAt}',
  time: '{startsAt}',
  ended: '{endsAt}',
  state: '{status}',
  tags: 'labels',
  metadata: ['labels', 'annotations'],
}

const UPTIME_KUMA: readonly Places[] = [
  {
    when: ['{heartbeat.status}'],
    title: '{monitor.pathName|monitor.name}',
    message: '{heartbeat.msg|msg}',
    url: '{monitor.url}',
    source: '{monitor.id}',
    time: '{heartbeat.time}',
    state: '{heartbeat.status}',
    firing: ['0'],
    resolved: ['1'],
    tags: 'monitor.tags',
    metadata: ['monitor.type'],
  },
  { title: '{msg}' },
]

const HEALTHCHECKS: readonly Places[] = [
  {
    title: '{check.name|check.slug|name|code}',
    message: '{check.desc}',
    source: '{code}',
    time: '{now}',
    state: '{status}',
    tags: 'check.tags',
    // Never all of it: ping_url is a secret.
    metadata: ['check.slug', 'check.last_ping'],
  },
]

const GITHUB: readonly Places[] = [
  {
    when: ['{$event}', 'workflow_run'],
    title: '{repository.full_name}: {workflow_run.name}',
    message: '{workflow_run.conclusion} on {workflow_run.head_branch}',
    url: '{workflow_run.html_url}',
    source: '{repository.full_name} {workflow_run.workflow_id} {workflow_run.head_branch}',
    time: '{workflow_run.updated_at}',
    state: '{workflow_run.conclusion}',
    firing: ['failure', 'timed_out', 'action_required'],
    resolved: ['success'],
    isSilent: true,
    metadata: ['workflow_run.head_branch', 'workflow_run.head_sha', 'workflow_run.run_number'],
  },
  {
    when: ['{$event}', 'deployment_status'],
    title: '{repository.full_name}: {deployment_status.environment}',
    message: '{deployment_status.description|deployment_status.state}',
    url: '{deployment_status.log_url|deployment_status.target_url}',
    source: '{repository.full_name} {deployment_status.environment}',
    time: '{deployment_status.created_at}',
    state: '{deployment_status.state}',
    firing: ['failure', 'error'],
    resolved: ['success'],
    isSilent: true,
    metadata: ['deployment.ref', 'deployment.sha'],
  },
  {
    when: ['{$event}', 'push'],
    title: '{repository.full_name}: {head_commit.message|ref}',
    url: '{compare}',
    metadata: ['ref', 'after', 'pusher.name'],
  },
  { when: ['{$event}', 'ping'], title: '{zen}', state: '{$event}', isSilent: true },
  {
    when: ['{$event}'],
    title: '{repository.full_name|organization.login}: {$event}',
    message: '{action}',
    url: '{repository.html_url}',
    metadata: ['action', 'sender.login'],
  },
]

const GITLAB: readonly Places[] = [
  {
    when: ['{object_kind}', 'pipeline'],
    title: '{project.path_with_namespace}: {object_attributes.ref}',
    message: '{commit.title|object_attributes.name}',
    url: '{object_attributes.url|project.web_url}',
    source: '{project.id} {object_attributes.ref}',
    time: '{object_attributes.finished_at|object_attributes.created_at}',
    state: '{object_attributes.status}',
    firing: ['failed'],
    resolved: ['success'],
    isSilent: true,
    metadata: ['object_attributes.sha', 'object_attributes.source', 'user.username'],
  },
  {
    when: ['{object_kind}'],
    title: '{project.path_with_namespace}: {object_attributes.title|object_kind}',
    message: '{object_attributes.action|object_attributes.description}',
    url: '{object_attributes.url|project.web_url}',
    metadata: ['object_kind', 'ref', 'user.username'],
  },
]

const SENTRY: readonly Places[] = [
  {
    when: ['{$event}', 'event_alert'],
    title: '{data.event.title}',
    message: '{data.event.culprit}',
    severity: '{data.event.level}',
    url: '{data.event.web_url}',
    source: '{data.event.issue_id}',
    time: '{data.event.datetime}',
    state: '{action}',
    firing: ['triggered'],
    metadata: ['data.triggered_rule', 'data.event.level'],
  },
  {
    when: ['{$event}', 'issue'],
    title: '{data.issue.title}',
    message: '{data.issue.shortId} {action}',
    severity: '{data.issue.level}',
    url: '{data.issue.web_url}',
    source: '{data.issue.id}',
    time: '{data.issue.lastSeen}',
    state: '{action}',
    firing: ['created', 'unresolved'],
    resolved: ['resolved'],
    metadata: ['data.issue.shortId', 'data.issue.priority'],
  },
  {
    when: ['{$event}', 'metric_alert'],
    title: '{data.description_title|data.metric_alert.title}',
    message: '{data.description_text}',
    severity: '{action}',
    url: '{data.web_url}',
    source: '{data.metric_alert.id}',
    start: '{data.metric_alert.date_started}',
    time: '{data.metric_alert.date_started}',
    ended: '{data.metric_alert.date_closed}',
    state: '{action}',
    firing: ['critical', 'warning'],
    resolved: ['resolved'],
  },
  { when: ['{$event}'], title: 'Sentry: {$event}', message: '{action}' },
]

/** Every kind of hook, by its name in the path. */
export const KINDS = {
  alertmanager: { list: 'alerts', tables: [ALERT] },
  grafana: {
    list: 'alerts',
    tables: [
      { ...ALERT, url: '{panelURL|dashboardURL|generatorURL|externalURL}', image: '{imageURL}' },
    ],
  },
  'uptime-kuma': { tables: UPTIME_KUMA },
  healthchecks: { tables: HEALTHCHECKS },
  github: { event: 'x-github-event', delivery: 'x-github-delivery', tables: GITHUB },
  gitlab: { delivery: 'idempotency-key', tables: GITLAB },
  sentry: { event: 'sentry-hook-resource', delivery: 'request-id', tables: SENTRY },
  json: {},
} as const satisfies Readonly<Record<string, Kind>>

/** How the tools that sign payloads do it. */
export const SIGNATURES: Readonly<Record<SignedKind, Signature>> = {
  grafana: hmacSignature('x-grafana-alerting-signature'),
  github: hmacSignature('x-hub-signature-256', 'sha256='),
  gitlab: bareSecret('x-gitlab-token'),
  sentry: hmacSignature('sentry-hook-signature'),
}

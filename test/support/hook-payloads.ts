// Payloads of monitoring tools, as their documents and sources have them.

export interface HookPayload {
  readonly kind: string
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

type Make = (more: Readonly<Record<string, unknown>>) => HookPayload

const alert = (more: object): object => ({
  status: 'firing',
  labels: { alertname: 'DiskFull', instance: 'db1', severity: 'critical' },
  annotations: { summary: '95%' },
  startsAt: '2025-11-20T07:00:00.123456789Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prom/graph',
  fingerprint: 'c1f9a0b2d3e4f567',
  ...more,
})

/** A group with these alerts. */
export const alertmanager = (...alerts: readonly object[]): HookPayload => ({
  kind: 'alertmanager',
  body: {
    version: '4',
    groupKey: '{}:{alertname="DiskFull"}',
    truncatedAlerts: 0,
    status: 'firing',
    receiver: 'gw',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://am:9093',
    alerts: alerts.map(alert),
  },
})

export const grafana = (more: object): HookPayload => ({
  kind: 'grafana',
  body: {
    ...alertmanager().body,
    version: '1',
    orgId: 1,
    title: '[FIRING:1] DiskFull',
    state: 'alerting',
    message: 'm',
    alerts: [
      alert({
        silenceURL: 'http://gf/silence',
        dashboardURL: 'http://gf/d/1',
        panelURL: '',
        values: { A: 95.5 },
        valueString: '[ var=A ]',
        ...more,
      }),
    ],
  },
})

export const uptimeKuma: Make = (more) => ({
  kind: 'uptime-kuma',
  body: {
    heartbeat: {
      monitorID: 1,
      status: 0,
      time: '2025-11-20 07:00:00.123',
      msg: 'timeout',
      ping: null,
      important: true,
      duration: 60,
      retries: 0,
      timezone: 'Europe/Berlin',
      timezoneOffset: '+01:00',
      ...more,
    },
    monitor: {
      id: 1,
      name: 'API',
      url: 'https://x',
      type: 'http',
      tags: [{ name: 'team', value: 'web' }, { name: 'prod', value: '' }],
      pathName: 'Prod / API',
    },
    msg: '[API] [Down] timeout',
  },
}) // oxfmt-ignore

export const healthchecks: Make = (more) => ({
  kind: 'healthchecks',
  body: {
    status: 'down',
    now: '2025-11-20T07:00:00+00:00',
    code: '2c9f1e0a-8b0d-4a57-9f25-5a6f9f4a2f10',
    check: {
      name: 'Backup',
      slug: 'backup',
      tags: 'prod nightly',
      desc: 'Backs up.',
      status: 'down',
      last_ping: '2025-11-19T07:00:00+00:00',
      ping_url: 'https://hc-ping.com/secret',
    },
    ...more,
  },
})

const github = (event: string, body: object): HookPayload => ({
  kind: 'github',
  headers: { 'x-github-event': event, 'x-github-delivery': `delivery of ${event}` },
  body: { repository: { full_name: 'o/r', html_url: 'https://github.com/o/r' }, ...body },
})

export const workflowRun: Make = (more) =>
  github('workflow_run', {
    action: 'completed',
    workflow_run: {
      id: 30_433_642,
      name: 'Build',
      run_number: 562,
      run_attempt: 1,
      head_branch: 'main',
      head_sha: 'acb5820c',
      event: 'push',
      status: 'completed',
      conclusion: 'failure',
      html_url: 'https://github.com/o/r/actions/runs/30433642',
      updated_at: '2025-11-20T07:00:00Z',
      workflow_id: 159_038,
      ...more,
    },
  })

export const deploymentStatus: Make = (more) =>
  github('deployment_status', {
    action: 'created',
    deployment_status: {
      state: 'failure',
      description: 'It failed.',
      environment: 'production',
      target_url: 'https://x/target',
      log_url: '',
      created_at: '2025-11-20T07:00:00Z',
      ...more,
    },
    deployment: { id: 1, ref: 'main', sha: 'acb5820c' },
  })

export const push: Make = (more) =>
  github('push', {
    ref: 'refs/heads/main',
    before: '6113728f',
    after: 'acb5820c',
    compare: 'https://github.com/o/r/compare/6113728f...acb5820c',
    commits: [],
    head_commit: { id: 'acb5820c', message: 'Fix it\n\nAt last.', timestamp: 't', url: 'u' },
    pusher: { name: 'a' },
    ...more,
  })

export const ping = github('ping', { zen: 'Keep it logically awesome.', hook_id: 1 })
export const starred = github('star', { action: 'created', sender: { login: 'b' } })

export const pipeline: Make = (more) => ({
  kind: 'gitlab',
  headers: { 'x-gitlab-event': 'Pipeline Hook', 'idempotency-key': 'key-1' },
  body: {
    object_kind: 'pipeline',
    object_attributes: {
      id: 31,
      name: 'nightly',
      ref: 'master',
      sha: 'bcbb5ec3',
      source: 'push',
      status: 'failed',
      detailed_status: 'failed',
      created_at: '2025-11-20 06:57:00 UTC',
      finished_at: '2025-11-20 07:00:00 UTC',
      duration: 63,
      url: 'https://gl/p/-/pipelines/31',
      ...more,
    },
    user: { username: 'a' },
    project: { id: 1, path_with_namespace: 'g/p', web_url: 'https://gl/p' },
    commit: { title: 't' },
    builds: [],
  },
})

export const merged: HookPayload = {
  kind: 'gitlab',
  headers: { 'idempotency-key': 'key-2' },
  body: {
    object_kind: 'merge_request',
    project: { path_with_namespace: 'g/p', web_url: 'https://gl/p' },
    object_attributes: { title: 'Merge it', action: 'merge', url: 'https://gl/p/mr/1' },
    user: { username: 'a' },
  },
}

const sentry = (resource: string, action: string, data: object): HookPayload => ({
  kind: 'sentry',
  headers: { 'sentry-hook-resource': resource, 'request-id': `request of ${resource} ${action}` },
  body: { action, data, installation: { uuid: 'u' }, actor: { type: 'application', id: 's' } },
})

export const eventAlert = sentry('event_alert', 'triggered', {
  event: {
    issue_id: '1170820242',
    event_id: 'e4874d66',
    title: 'ReferenceError: heck is not defined',
    level: 'error',
    culprit: '?(<anonymous>)',
    datetime: '2025-11-20T07:00:00.000000Z',
    web_url: 'https://sentry.io/organizations/o/issues/1170820242/events/e4874d66/',
  },
  triggered_rule: 'Very Important Alert Rule!',
})

export const issue = (action: string, more: object = {}): HookPayload =>
  sentry('issue', action, {
    issue: {
      id: '1170820242',
      shortId: 'JS-2',
      title: 'ReferenceError: heck is not defined',
      level: 'error',
      status: action,
      priority: 'high',
      web_url: 'https://sentry.io/organizations/o/issues/1170820242/',
      lastSeen: '2025-11-20T07:00:05.000000Z',
      ...more,
    },
  })

export const metricAlert = (action: string): HookPayload =>
  sentry('metric_alert', action, {
    metric_alert: { id: '5', title: 'Too many', date_started: '2025-11-20T07:00:00Z' },
    description_title: 'Critical: Too many',
    description_text: '1000 events in the last 10 minutes',
    web_url: 'https://sentry.io/organizations/o/alerts/rules/details/5/',
  })

const LATER = '2025-11-20T07:05:00Z'

/** What a tool sends while an alarm is on, and what ends it. */
export const ALARMS = {
  alertmanager: [alertmanager({}), alertmanager({ status: 'resolved', endsAt: LATER })],
  grafana: [grafana({}), grafana({ status: 'resolved', endsAt: LATER })],
  'uptime-kuma': [uptimeKuma({}), uptimeKuma({ status: 1, time: '2025-11-20 07:05:00.000' })],
  healthchecks: [healthchecks({}), healthchecks({ status: 'up', now: LATER })],
  'a workflow of GitHub': [
    workflowRun({}),
    workflowRun({ id: 2, conclusion: 'success', updated_at: LATER }),
  ],
  'a deployment of GitHub': [
    deploymentStatus({}),
    deploymentStatus({ state: 'success', created_at: LATER }),
  ],
  gitlab: [
    pipeline({}),
    pipeline({ id: 32, status: 'success', finished_at: '2025-11-20 07:05:00 UTC' }),
  ],
  'an issue of Sentry': [eventAlert, issue('resolved')],
  'a metric alert of Sentry': [metricAlert('critical'), metricAlert('resolved')],
} as const satisfies Readonly<Record<string, readonly [HookPayload, HookPayload]>>

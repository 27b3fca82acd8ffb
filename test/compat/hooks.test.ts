// Goal: what monitoring tools post becomes Events and Messages with everything that they say.
// Method: the payloads of each tool over HTTP, one row each; what the log gets beside it.

import test from 'ava'

import { compatibilityStyles } from '#src/compat/styles'
import { KEY, PATH_KEY, startStyles } from '#test/support/compatibility-rig'
import * as from from '#test/support/hook-payloads'
import type { HookPayload } from '#test/support/hook-payloads'
import { CREDENTIALS } from '#test/support/making'
import { addKey } from '#test/support/mqtt-rig'
import type { Answered, Rig } from '#test/support/start-ingress'

const START = Date.parse('2025-11-20T07:00:00Z')
const LATER = '2025-11-20T07:05:00Z'

const post = (rig: Rig, { kind, body, headers }: HookPayload, key = PATH_KEY): Promise<Answered> =>
  rig.post(`/hook/${kind}/${key}`, body, headers)

/** What the log has got: the action with its time and fields. */
const taken = ({ sink }: Rig) =>
  sink.accepted.map((one) => {
    if (one.model === 'message') return { action: 'send', ...one.fields }
    if (one.model !== 'event') return { action: one.model }
    return { action: one.action, at: one.patch.at, ...one.patch.fields }
  })

const LABELS = { alertname: 'DiskFull', instance: 'db1', severity: 'critical' }
const ALERT = {
  action: 'update',
  at: START + 123,
  started_at: START + 123,
  title: 'DiskFull',
  message: '95%',
  severity: 'critical',
  status: 'firing',
  tags: ['alertname=DiskFull', 'instance=db1', 'severity=critical'],
  metadata: { url: 'http://prom/graph', ...LABELS, summary: '95%' },
}

const rows: readonly (readonly [what: string, payload: HookPayload, expected: readonly object[]])[] = [
  ['an alert of Alertmanager', from.alertmanager({}), [ALERT]],
  [
    'a group of Alertmanager, firing and resolved mixed',
    from.alertmanager({}, { fingerprint: 'x', status: 'resolved', endsAt: LATER }),
    [ALERT, { action: 'close', at: START + 300_000, ended_at: START + 300_000, status: 'resolved', title: 'DiskFull' }],
  ],
  [
    'an alert about a Thing',
    from.alertmanager({ labels: { alertname: 'Hot', thing_id: 'boiler 1' } }),
    [{ title: 'Hot', severity: 'high', thing_id: 'boiler_1-08bbfe43' }],
  ],
  [
    'an alert of Grafana',
    from.grafana({ imageURL: 'https://gf/i.png' }),
    [{ ...ALERT, images: ['https://gf/i.png'], metadata: { ...ALERT.metadata, url: 'http://gf/d/1' } }],
  ],
  [
    'a monitor of Uptime Kuma that is down',
    from.uptimeKuma({}),
    [
      {
        action: 'update',
        at: START + 123,
        title: 'Prod / API',
        message: 'timeout',
        severity: 'high',
        tags: ['team=web', 'prod'],
        metadata: { url: 'https://x', type: 'http' },
      },
    ],
  ],
  ['a monitor of Uptime Kuma under maintenance', from.uptimeKuma({ status: 3, msg: 'm' }), [{ action: 'send', title: 'Prod / API', body: 'm', url: 'https://x' }]],
  ['a test of Uptime Kuma', { kind: 'uptime-kuma', body: { heartbeat: null, monitor: null, msg: 'a test' } }, [{ action: 'send', title: 'a test' }]],
  [
    'a check of healthchecks.io that is down, without its secret address',
    from.healthchecks({}),
    [
      {
        action: 'update',
        at: START,
        title: 'Backup',
        message: 'Backs up.',
        tags: ['prod', 'nightly'],
        metadata: { slug: 'backup', last_ping: '2025-11-19T07:00:00+00:00' },
      },
    ],
  ],
  [
    'a workflow of GitHub that failed',
    from.workflowRun({}),
    [
      {
        action: 'update',
        at: START,
        title: 'o/r: Build',
        message: 'failure on main',
        severity: 'high',
        metadata: {
          url: 'https://github.com/o/r/actions/runs/30433642',
          head_branch: 'main',
          head_sha: 'acb5820c',
          run_number: '562',
        },
      },
    ],
  ],
  ['a workflow of GitHub in progress', from.workflowRun({ conclusion: null }), []],
  ['a workflow of GitHub that was skipped', from.workflowRun({ conclusion: 'skipped' }), []],
  ['a deployment of GitHub that failed', from.deploymentStatus({}), [{ action: 'update', title: 'o/r: production', message: 'It failed.', metadata: { url: 'https://x/target', ref: 'main', sha: 'acb5820c' } }]],
  ['a deployment of GitHub that waits', from.deploymentStatus({ state: 'waiting' }), []],
  [
    'a push to GitHub',
    from.push({}),
    [{ action: 'send', title: 'o/r: Fix it', url: 'https://github.com/o/r/compare/6113728f...acb5820c', metadata: { ref: 'refs/heads/main', after: 'acb5820c', name: 'a' } }],
  ],
  ['the deletion of a branch at GitHub', from.push({ head_commit: null }), [{ action: 'send', title: 'o/r: refs/heads/main' }]],
  ['the first ping of GitHub', from.ping, []],
  ['any other event of GitHub', from.starred, [{ action: 'send', title: 'o/r: star', body: 'created', url: 'https://github.com/o/r' }]],
  [
    'a pipeline of GitLab that failed',
    from.pipeline({}),
    [{ action: 'update', at: START, title: 'g/p: master', message: 't', metadata: { url: 'https://gl/p/-/pipelines/31', sha: 'bcbb5ec3', source: 'push', username: 'a' } }],
  ],
  ['a pipeline of GitLab that runs', from.pipeline({ status: 'running' }), []],
  ['any other event of GitLab', from.merged, [{ action: 'send', title: 'g/p: Merge it', body: 'merge', url: 'https://gl/p/mr/1' }]],
  [
    'an issue alert of Sentry',
    from.eventAlert,
    [{ action: 'update', at: START, title: 'ReferenceError: heck is not defined', message: '?(<anonymous>)', severity: 'high', metadata: { triggered_rule: 'Very Important Alert Rule!', level: 'error', url: 'https://sentry.io/organizations/o/issues/1170820242/events/e4874d66/' } }],
  ],
  ['an issue of Sentry that is assigned', from.issue('assigned'), [{ action: 'send', body: 'JS-2 assigned' }]],
  ['a metric alert of Sentry', from.metricAlert('critical'), [{ action: 'update', at: START, title: 'Critical: Too many', severity: 'critical' }]],
] // oxfmt-ignore

for (const [what, payload, expected] of rows) {
  test(`${what} becomes ${expected.length === 0 ? 'nothing' : 'what it says'}`, async (t) => {
    const rig = await startStyles(t)
    const { status, json } = await post(rig, payload)
    t.deepEqual([status, json], [200, { success: true, data: { accepted: expected.length } }])
    const became = taken(rig)
    t.is(became.length, expected.length)
    for (const [index, one] of expected.entries()) t.like(became[index], one)
  })
}

test('a Message that its tool sends again has the op_id of the first one, by channel and tool', async (t) => {
  const rig = await startStyles(t)
  for (const payload of [from.push({}), from.push({}), from.starred]) await post(rig, payload)
  const ids = rig.sink.accepted.map(({ opId }) => opId)
  t.is(new Set(ids).size, 2)
  t.regex(String(ids[0]), /^github-[0-9a-f]{32}$/)
})

const KEYS: readonly (readonly [what: string, headers: (key: string) => Record<string, string>])[] = [
  ['X-Channel-Key', (key) => ({ 'x-channel-key': key })],
  ['Bearer', (key) => ({ authorization: `Bearer ${key}` })],
] // oxfmt-ignore

for (const [what, headers] of KEYS) {
  test(`the key may come as ${what}, by POST and by PUT`, async (t) => {
    const rig = await startStyles(t)
    const key = await addKey(rig, {})
    for (const method of ['POST', 'PUT']) {
      const body = JSON.stringify(from.alertmanager({}).body)
      const sent = { method, body, headers: headers(key) }
      t.is((await rig.send('/hook/alertmanager', sent)).status, 200)
    }
    t.is((await rig.post('/hook/alertmanager', {}, headers('x'.repeat(43)))).status, 404)
    t.is((await rig.post('/hook/alertmanager', {})).status, 404)
  })
}

test('a payload may stand in a form, as Uptime Kuma and GitHub send it', async (t) => {
  const rig = await startStyles(t)
  const data = new FormData()
  data.set('data', JSON.stringify(from.uptimeKuma({}).body))
  const form = new URLSearchParams({ payload: JSON.stringify(from.push({}).body) })
  const [kuma, github] = [`/hook/uptime-kuma/${PATH_KEY}`, `/hook/github/${PATH_KEY}`]
  t.is((await rig.send(kuma, { method: 'POST', body: data })).status, 200)
  const headers = from.push({}).headers ?? {}
  t.is((await rig.send(github, { method: 'POST', body: form, headers })).status, 200)
  t.like(taken(rig), [{ title: 'Prod / API' }, { title: 'o/r: Fix it' }])
})

test('where the gateway has a token a key opens a hook, and a password only beside the token', async (t) => {
  const styles = compatibilityStyles({ keptMs: 1, hasToken: true })
  const rig = await startStyles(t, { token: 'the-token', styles })
  t.is((await post(rig, from.alertmanager({}), await addKey(rig))).status, 200)
  const password = await post(rig, from.alertmanager({}))
  t.like(password, { status: 401, json: { error_code: 'authentication_failed' } })
  const beside = { ...from.alertmanager({}), headers: { authorization: 'Bearer the-token' } }
  t.is((await post(rig, beside)).status, 200)
  t.is(rig.sink.accepted.length, 2)
})

test('hook-payloads/3: a caller beyond the budget gets 503, as tools come back after that', async (t) => {
  const rig = await startStyles(t, { passwordBudget: { perAddress: 1, total: 100 } })
  const wrong = `/hook/alertmanager/${KEY.slice(0, 26)}:wrong+password`
  t.is((await rig.post(wrong, { alerts: [] })).status, 404)
  const refused = await rig.post(wrong, { alerts: [] })
  t.like(refused, { status: 503, json: { error_code: 'server_busy' } })
  t.truthy(refused.headers.get('retry-after'))
  t.is(rig.meter.total('refused_total{rate_limited}'), 1)
})

test('no secret of a hook is logged or answered', async (t) => {
  const rig = await startStyles(t)
  const key = await addKey(rig, { scopes: ['read'] })
  const answers = [
    await post(rig, from.alertmanager({}), key),
    await post(rig, { ...from.alertmanager({}), body: {} }),
    await rig.post('/channel/hooks', { ...CREDENTIALS, secrets: { github: 'a bare secret' } }),
  ]
  const told = JSON.stringify([answers.map(({ text }) => text), rig.logger])
  for (const secret of [key, PATH_KEY, CREDENTIALS.password, 'a bare secret']) {
    t.false(told.includes(secret))
  }
})

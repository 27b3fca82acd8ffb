// Method: the service worker runs in a scope that the test makes, as a browser would start it;
// events are handed to it, and what it asks of the browser is noted.

import test from 'ava'

import { DEVICE_KEY, EVENT, SCOPE, started } from '#test/support/service-worker'

const ACTIONS =
  'view, Camera, https://cam.example; http, Open, https://door.example/open, method=PUT'
const metadata = (actions: string): object => ({
  data: { severity: 'critical', metadata: JSON.stringify({ 'compat.topic.actions': actions }) },
})
const FAULT = { title: 'Burner fault', body: 'flame lost', navigate: `${SCOPE}${EVENT}`, tag: 'a' }

test('a click on a notification opens what it is about: in the page that is open, or in a new one', async (t) => {
  const alone = await started()
  await alone.push(FAULT)
  t.true(await alone.click(''))
  t.deepEqual(alone.opened, [`${SCOPE}${EVENT}`])

  const open = `${SCOPE}#/P7K2M9QW4RD8ZT3VN6HB5YPC1G/overview`
  const beside = await started({ pages: ['https://push.example/oauth/', open] })
  await beside.push(FAULT)
  await beside.click('')
  t.deepEqual(beside.told, [`${open} goes to ${EVENT}`, `${open} is focused`])
  t.deepEqual(beside.opened, [])
})

test('a click leads to this gateway alone, whatever address the push names', async (t) => {
  for (const navigate of ['https://elsewhere.example/x', 'javascript:alert(1)', '', 'https://[']) {
    const worker = await started()
    await worker.push({ ...FAULT, navigate })
    await worker.click('')
    t.deepEqual(worker.opened, [SCOPE], navigate)
  }
  const worker = await started()
  await worker.push({ ...FAULT, navigate: `https://elsewhere.example/console/${EVENT}` })
  await worker.click('')
  t.deepEqual(worker.opened, [`${SCOPE}${EVENT}`])
})

test('a button of a notification opens its address, or sends its request, and says when that fails', async (t) => {
  const worker = await started()
  await worker.push({ ...FAULT, ...metadata(ACTIONS) })
  t.deepEqual(
    worker.shown[0]?.options.actions?.map(({ title, action }) => [action, title]),
    [
      ['0', 'Camera'],
      ['1', 'Open'],
    ],
  )
  t.true(await worker.click('0'))
  t.deepEqual(worker.opened, ['https://cam.example/'])
  t.true(await worker.click('1'))
  t.deepEqual([worker.sent, worker.shown.length], [['PUT https://door.example/open'], 1])

  for (const [host, text] of [
    ['refused.example', 'refused.example: 403'],
    ['away.example', 'away.example'],
  ] as const) {
    const failing = await started()
    await failing.push({ ...FAULT, ...metadata(`http, Open, https://${host}/, method=PUT`) })
    await failing.click('0')
    t.deepEqual([failing.shown[1]?.title, failing.shown[1]?.options.body], ['✗ Open', text])
    await failing.click('', 1)
    t.deepEqual(failing.opened, [SCOPE], 'a click on that leads to the page')
  }
})

test('a button that the notification does not have does what a click on it does', async (t) => {
  const worker = await started()
  await worker.push({ ...FAULT, ...metadata('view, Bad, javascript:alert(1)') })
  t.deepEqual(worker.shown[0]?.options.actions, [])
  await worker.click('0')
  t.deepEqual([worker.opened, worker.sent], [[`${SCOPE}${EVENT}`], []])
})

test('severity decides how insistent a notification is, and what is no push shows nothing', async (t) => {
  const worker = await started()
  await worker.push({ ...FAULT, ...metadata('') })
  await worker.push({ ...FAULT, silent: true, data: { severity: 'low' } })
  await worker.happen('push', { data: { json: () => ({ other: 1 }) } })
  await worker.happen('push', { data: null })
  t.deepEqual(
    worker.shown.map(({ options }) => [
      options.requireInteraction,
      options.silent,
      options.renotify,
    ]),
    [
      [true, false, true],
      [false, true, false],
    ],
  )
})

const OPENED = {
  ...FAULT,
  data: {
    model: 'event',
    action: 'create',
    state: 'open',
    channel_id: 'P7K2M9QW4RD8ZT3VN6HB5YPC1G',
    entity_id: 'burner-fault-7',
    severity: 'critical',
  },
}
const eventPush = (data: object): object => ({ ...OPENED, data: { ...OPENED.data, ...data } })

const HOUR_MS = 3_600_000
const isNear = (sent: Readonly<Record<string, unknown>> | undefined, atMs: number): boolean =>
  Math.abs(Number(sent?.['event_time']) - atMs) < HOUR_MS / 4

test('acknowledging/2: an open Event can be acknowledged and snoozed from its notification, with the key of the device', async (t) => {
  const worker = await started({ answer: { status: 200, aheadMs: HOUR_MS } })
  await worker.push(OPENED)
  t.deepEqual(
    worker.shown[0]?.options.actions?.map(({ title }) => title),
    ['Acknowledge', 'Snooze 1 h'],
  )
  t.true(await worker.click('acknowledge'))
  await worker.click('snooze')
  const [taken, snoozed] = worker.asked
  t.like(taken, {
    by: 'Phone',
    device_key: DEVICE_KEY,
    event_id: 'burner-fault-7',
    snooze: undefined,
  })
  t.true(isNear(taken, Date.now() + HOUR_MS))
  t.like(snoozed, { channel_id: OPENED.data.channel_id, snooze: '1h' })
  t.regex(String(worker.shown.map(({ options }) => options.body)), /,Acknowledged,Snoozed until /)
  t.true(
    worker.shown.every(({ options }) => options.tag === 'a'),
    'one in the place of the other',
  )
  t.deepEqual(worker.opened, [])
})

test('a reminder and an escalation replace it and sound again, who has it is told quietly, and a close takes it away', async (t) => {
  const worker = await started()
  await worker.push(eventPush({ action: 'remind', reminders: '3' }))
  await worker.push(eventPush({ action: 'escalate', level: '2' }))
  await worker.push(eventPush({ action: 'acknowledge', acknowledged_by: 'anna', note: 'coming' }))
  t.deepEqual(worker.told, [])
  await worker.push(eventPush({ action: 'close', state: 'closed' }))
  t.deepEqual(
    worker.shown.map(({ options: { body, renotify, actions } }) => [
      body,
      renotify,
      actions?.length,
    ]),
    [
      ['Reminder 3', true, 2],
      ['Nobody has it: level 2', true, 2],
      ['anna has it · coming', false, 0],
      ['flame lost', true, 0],
    ],
  )
  t.deepEqual(worker.told, ['a is taken away'])
})

test('acknowledging/1: without a network it waits, and is sent by what comes next, also in another worker', async (t) => {
  const kept = new Map<string, unknown>()
  const answer = { status: 0, aheadMs: -HOUR_MS }
  const worker = await started({ kept, answer })
  await worker.push(OPENED)
  await worker.click('acknowledge')
  t.is(worker.sent.length, 4, 'attempts are bounded')
  t.regex(worker.shown[1]?.options.body ?? '', /^Not sent yet/)
  t.deepEqual(worker.wishes, ['acknowledge'])

  const next = await started({ kept, answer })
  await next.happen('sync', { tag: 'acknowledge' })
  t.deepEqual(next.shown, [], 'what goes on waiting says nothing')
  answer.status = 200
  await next.happen('sync', { tag: 'acknowledge' })
  t.is(next.asked[0]?.['event_id'], 'burner-fault-7')
  t.true(isNear(next.asked[0], Date.now() - HOUR_MS), 'acknowledging/2')
  t.deepEqual(
    next.shown.map(({ options }) => options.body),
    ['Acknowledged'],
  )
  const calls = next.sent.length
  await next.push(OPENED)
  t.is(next.sent.length, calls, 'it is sent once')
})

test('acknowledging/1: twenty wait at most, none for longer than a day, and a refusal ends one', async (t) => {
  const waiting = Array.from({ length: 21 }, (_, at) => ({
    at: Date.now(),
    tag: `${at}`,
    snooze: '',
  }))
  const kept = new Map<string, unknown>([['waiting', waiting]])
  const answer = { status: 0 }
  const worker = await started({ kept, answer })
  await worker.push(OPENED)
  await worker.click('acknowledge')
  t.is((kept.get('waiting') as unknown[]).length, 20)
  kept.set('waiting', [{ at: Date.now() - 86_400_000, tag: 'old', snooze: '' }])
  answer.status = 403
  await worker.click('acknowledge')
  t.regex(worker.shown.at(-1)?.options.body ?? '', /^Not acknowledged: The device is not known/)
  const calls = worker.sent.length
  await worker.happen('sync', { tag: 'acknowledge' })
  t.deepEqual([worker.sent.length, kept.get('waiting')], [calls, []])
})

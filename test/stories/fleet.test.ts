// Goal: what a fleet sends arrives once and in order, also when the gateway is killed in between.
// Method: the fleet sender reports for 200 Things and sends Messages; after a third of the outcomes
// the gateway is killed, and it starts again on the same port. Then the feed is read.

import test from 'ava'

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { createFleetSender } from '#src/client/fleet'
import type { FleetOutcome } from '#src/client/fleet'
import type { FleetSubmission } from '#src/client/fleet-queue'
import { reservePort } from '#src/dev/servers/port'
import { historyOf } from '#test/support/audit'
import { PASSWORD, createChannels } from '#test/support/device'
import { startGateway, temporaryFolder, until } from '#test/support/gateway'

const THINGS = 200
const REPORTS = 5
const MESSAGES = 100
const ALL = THINGS * REPORTS + MESSAGES

/** The reports of a Thing one behind the other: only their order keeps them apart. */
function* submissionsTo(channel_id: string): Generator<FleetSubmission> {
  const credentials = { channel_id, password: PASSWORD }
  for (let thing = 0; thing < THINGS; thing += 1) {
    for (let report = 1; report <= REPORTS; report += 1) {
      const observed_at = 1_700_000_000_000 + report
      const body = { ...credentials, thing_id: `t-${thing}`, observed_at, attrs: { report } }
      yield { model: 'thing', action: 'update', body }
    }
    if (thing >= MESSAGES) continue
    yield { model: 'message', action: 'send', body: { ...credentials, title: `${thing}` } }
  }
}

test('a fleet loses nothing over a killed gateway, and keeps each Thing in order', async (t) => {
  const directory = await temporaryFolder(t)
  const { port, release } = await reservePort()
  t.teardown(release)
  const env = { SERVICE_HTTP_ADDR: `127.0.0.1:${port}` }
  let gateway = await startGateway(t, { directory, env })
  const channels = await createChannels(gateway, 1)
  const channel_id = channels[0] as ChannelId

  const outcomes: FleetOutcome[] = []
  let killed: Promise<unknown> | undefined
  const sender = createFleetSender({
    ...gateway,
    repeatsUpdates: true,
    queue: 100,
    onOutcome: (outcome) => {
      outcomes.push(outcome)
      if (outcomes.length > ALL / 3) killed ??= gateway.end('SIGKILL')
    },
  })
  t.teardown(() => sender.stop())
  const sending = (async () => {
    for (const submission of submissionsTo(channel_id)) await sender.send(submission)
    await sender.flush()
  })()
  await until(
    async () => killed !== undefined,
    (isKilled) => isKilled,
  )
  await killed
  gateway = await startGateway(t, { directory, env })
  await sending

  t.deepEqual([...new Set(outcomes.map(({ kind }) => kind))], ['accepted'])
  t.is(outcomes.length, ALL)
  t.true(sender.progress.repeated > 0, 'something was under way when the gateway was killed')
  const records = await until(
    () => historyOf(createClient(gateway), channel_id),
    ({ length }) => length >= ALL,
  )
  const reports = new Map<string, unknown[]>()
  for (const { model, entity_id: id, payload } of records) {
    if (model !== 'thing') continue
    const { report } = payload['attrs'] as { readonly report: number }
    reports.set(id, [...(reports.get(id) ?? []), report])
  }
  t.is(reports.size, THINGS)
  for (const [id, seen] of reports) t.deepEqual(seen, [1, 2, 3, 4, 5], id)
  const titles = records
    .filter(({ model }) => model === 'message')
    .map((one) => one.payload['title'])
  t.is(titles.length, MESSAGES)
  t.is(new Set(titles).size, MESSAGES)
})

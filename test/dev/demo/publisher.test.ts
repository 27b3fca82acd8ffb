// Goal: the publisher sends each change of a reading once and nothing else, and loses no change when
// a request fails. Method: publish readings against a recorded fetch and compare the bodies.

import test from 'ava'

import { parseChannelId } from '#domain/identity'
import type { Fields } from '#domain/submission'
import { Publisher, Sender } from '#src/dev/demo/publisher'
import { Tally } from '#src/dev/demo/tally'
import type { Reading } from '#src/dev/demo/readings'
import { createClient } from '#src/client/client'
import { FakeProcessContext, refusal, success } from '#test/support/fake-process-context'

function stage() {
  let isRefusing = false
  let operations = 0
  const context = new FakeProcessContext({
    answer: () => {
      operations += 1
      if (isRefusing) return refusal(503, 'server_busy')
      return success({ op_id: `op${operations}`, event_id: 'e1' })
    },
  })
  const channelId = parseChannelId('01234567890123456789012344')
  if (channelId === undefined) throw new Error('the channel id has the form of one')
  const credentials = { channel_id: channelId, password: 'p' }
  const tally = new Tally()
  const ports = {
    client: createClient({ baseUrl: 'http://gateway.example', fetch: context.fetch }),
    credentials,
    sender: new Sender(tally, context.monotonicMs),
    nowMs: () => 5,
  }
  /** The paths and bodies since it was asked last, without the credentials. */
  const sent = (): readonly [path: string, body: unknown][] =>
    context.requests
      .splice(0)
      .map(({ url, body }) => [
        new URL(url).pathname,
        Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => !(name in credentials))),
      ])
  return {
    publisher: new Publisher(ports),
    tally,
    sent,
    refuse: (value: boolean) => {
      isRefusing = value
    },
  }
}

const reading = (thingId: string, attrs: Fields): Reading => ({ thingId, title: thingId, attrs })

test('publisher/1: the publisher sends changed values only', async (t) => {
  const { publisher, sent } = stage()
  await publisher.publish([reading('host', { a: 1, b: 1 })])
  t.deepEqual(sent(), [
    ['/thing/update', { thing_id: 'host', title: 'host', attrs: { a: 1, b: 1 }, observed_at: 5 }],
  ])
  await publisher.publish([reading('host', { a: 1, b: 1 })])
  t.deepEqual(sent(), [])
  await publisher.publish([reading('host', { a: 2, c: 3 })])
  t.deepEqual(sent(), [
    ['/thing/update', { thing_id: 'host', attrs: { a: 2, c: 3, b: null }, observed_at: 5 }],
  ])
})

test('publisher/2: the publisher sends a Thing whole after a failed request', async (t) => {
  const { publisher, sent, refuse, tally } = stage()
  await publisher.publish([reading('host', { a: 1, b: 1 })])
  refuse(true)
  await publisher.publish([reading('host', { a: 2, b: 1 })])
  refuse(false)
  sent()
  await publisher.publish([reading('host', { a: 2, b: 1 })])
  t.deepEqual(sent(), [
    ['/thing/update', { thing_id: 'host', title: 'host', attrs: { a: 2, b: 1 }, observed_at: 5 }],
  ])
  t.like(tally.summary(), { sent: 2, refused: 1, lastRefusal: 'server_busy' })
})

test('publisher/3: the publisher archives a Thing without readings once, also after a failed try', async (t) => {
  const { publisher, sent, refuse } = stage()
  await publisher.publish([reading('proc:1', { a: 1 }), reading('host', { a: 1 })])
  sent()
  const archive: [string, unknown] = ['/thing/archive', { thing_id: 'proc:1', observed_at: 5 }]
  refuse(true)
  await publisher.publish([reading('host', { a: 1 })])
  t.deepEqual(sent(), [archive])
  refuse(false)
  await publisher.publish([reading('host', { a: 1 })])
  t.deepEqual(sent(), [archive])
  await publisher.publish([reading('host', { a: 1 })])
  t.deepEqual(sent(), [])
})

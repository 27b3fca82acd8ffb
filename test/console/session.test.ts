// Method: worker and page joined as a browser joins them, by copies; a frame is drawn when the test
// says so. The gateway is a script.

import test from 'ava'

import { SessionHost } from '#console/session/host.ts'
import { SessionLink } from '#console/session/link.ts'
import type { SessionPort } from '#console/session/link.ts'
import type { SessionOrder, SessionReport } from '#console/session/messages.ts'
import { memoryPositions } from '#src/client/position-store'
import { openReplica } from '#src/client/replica'
import type { Replica } from '#src/client/replica'
import { channel } from '#test/support/session-words'
import { ScriptedGateway } from '#test/support/scripted-carrier'
import { turn, until } from '#test/support/until'

const A = channel('A')
const KEY = 'ab'.repeat(16)

class Rig implements SessionPort {
  readonly gateway = new ScriptedGateway()
  readonly reports: SessionReport[] = []
  readonly frames: (() => void)[] = []
  readonly happened: string[] = []
  readonly drawn: string[][] = []
  isTerminated = false
  fail: () => void = () => {}
  replica: Replica | undefined
  #receive: (event: { readonly data: unknown }) => void = () => {}
  readonly #host = new SessionHost({
    positions: () => memoryPositions(),
    openReplica: (options) => {
      this.replica = openReplica({ ...options, carrier: this.gateway.carrier })
      return this.replica
    },
    post: (report) => {
      const data = structuredClone(report)
      this.reports.push(data)
      queueMicrotask(() => this.#receive({ data }))
    },
  })
  readonly link = new SessionLink(this, {
    device: { baseUrl: 'http://gateway.example', deviceKey: KEY, token: undefined },
    secrets: new Map(),
    nextFrame: (draw) => this.frames.push(draw),
    onState: () => {},
    onThings: (_, changes) => this.drawn.push(changes.map(({ id }) => id)),
    onHappening: ({ kind }) => this.happened.push(kind),
  })

  postMessage(order: SessionOrder): void {
    const copy = structuredClone(order)
    queueMicrotask(() => this.#host.take(copy))
  }

  addEventListener(name: 'message' | 'error', listener: (event: { data: unknown }) => void): void {
    if (name === 'message') this.#receive = listener
    else this.fail = () => listener({ data: undefined })
  }

  terminate(): void {
    this.isTerminated = true
    void this.replica?.close()
  }

  get news(): number {
    return this.reports.filter(({ kind }) => kind === 'news').length
  }

  /** Draws frames until nothing is under way. */
  async settle(): Promise<void> {
    await turn()
    for (let frames = 0; this.frames.length > 0 && frames < 100; frames += 1) {
      this.frames.shift()?.()
      await turn()
    }
  }

  async welcomed(): Promise<void> {
    await this.gateway.greeted()
    this.gateway.welcome([[A, 0, 0]])
    await this.settle()
  }
}

test('session-link/1: the Things of the page are those of the worker after every frame', async (t) => {
  const rig = new Rig()
  await rig.welcomed()
  const { gateway, link } = rig
  const steps = [
    () => gateway.thing(A, 1, { id: 'a', attrs: { t: 1 } }),
    () => gateway.thing(A, 2, { id: 'b', attrs: { t: 1, __proto__: null } }),
    () => gateway.thing(A, 3, { id: 'a', rev: 2, attrs: { u: 2 } }),
    () => gateway.thing(A, 4, { id: 'b', rev: 2, state: 'deleted', action: 'delete' }),
    () =>
      gateway.say({ kind: 'gap', channelId: A, from: 5, to: 6, reason: 'reset', restart: true }),
    () => gateway.thing(A, 1, { id: 'c' }),
  ]
  for (const step of steps) {
    step()
    await rig.settle()
    t.deepEqual(new Map(link.things(A)), new Map(rig.replica?.things(A)))
  }
  t.deepEqual([...link.things(A).keys()], ['c'])
  await closed(rig)
  t.true(rig.isTerminated)
})

test('session-host/1: while the page draws, updates fold into one piece of news with each Thing once', async (t) => {
  const rig = new Rig()
  await rig.welcomed()
  const before = rig.news
  for (let seq = 1; seq <= 100; seq += 1) {
    rig.gateway.thing(A, seq, { id: `thing-${seq % 5}`, rev: Math.ceil(seq / 5), attrs: { seq } })
  }
  await turn()
  t.is(rig.news, before + 1, 'the next one waits for the frame')
  await rig.settle()
  t.is(rig.news, before + 2)
  t.is(rig.drawn.at(-1)?.length, 5)
  t.is(rig.link.things(A).get('thing-0')?.attrs['seq'], 100)
  await closed(rig)
})

test('session-host/2: a page that draws nothing holds the session up, and loses nothing', async (t) => {
  const rig = new Rig()
  await rig.welcomed()
  rig.happened.length = 0
  for (let seq = 1; seq <= 1_500; seq += 1) rig.gateway.message(A, seq)
  await turn()
  await turn()
  const acked = Math.max(
    0,
    ...rig.gateway.heard.map((frame) => (frame.kind === 'ack' ? frame.seq : 0)),
  )
  t.true(acked < 600, `${acked} are acknowledged`)
  await until('the session waits', () => rig.frames.length > 0)
  await rig.settle()
  t.is(rig.happened.length, 1_500)
  await closed(rig)
})

test('a channel is caught up on the page once its Things are there', async (t) => {
  const rig = new Rig()
  await rig.welcomed()
  rig.gateway.thing(A, 1, { id: 'a' })
  rig.gateway.say({ kind: 'caught-up', channelId: A, seq: 1 })
  await rig.settle()
  t.deepEqual([rig.happened, [...rig.link.things(A).keys()]], [['channel', 'caught-up'], ['a']])
  await closed(rig)
})

test('a session ends where its worker fails, or the gateway refuses the device', async (t) => {
  const failing = new Rig()
  await failing.gateway.greeted()
  failing.fail()
  t.deepEqual(await failing.link.ended, { kind: 'failed' })
  t.true(failing.isTerminated)
  const refused = new Rig()
  await refused.gateway.greeted()
  refused.gateway.say({ kind: 'error', code: 'device_key_not_found', message: 'no' })
  t.deepEqual(await refused.link.ended, { kind: 'refused', code: 'device_key_not_found' })
})

async function closed(rig: Rig): Promise<void> {
  const closing = rig.link.close()
  await rig.settle()
  await closing
}

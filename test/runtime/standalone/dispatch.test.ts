// Dispatch of a sole process, whose provider is a server that takes connections and never answers.

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Spawned, Threads } from '#src/runtime/threads/threads'
import type { Wire } from '#src/threads/wire'
import { temporaryFolder } from '#test/support/gateway'
import { HandTurnedRuntime } from '#test/support/hand-turned-runtime'
import { addPushDevice } from '#test/support/push-jobs'
import { addChannel, metricOf, startSoleGateway } from '#test/support/sole-gateway'
import type { SoleGateway } from '#test/support/sole-gateway'
import { channel, message } from '#test/support/submissions'

const START_MS = 1_800_000_000_000
const A = channel(1)

/** A provider that never answers: its settings, and its end, without which no dispatch stops. */
async function silentProvider(t: ExecutionContext) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)))
  const end = (): void => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keyFile = join(await temporaryFolder(t), 'key.p8')
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const env = {
    SERVICE_APNS_KEY_FILE: keyFile,
    SERVICE_APNS_KEY_ID: 'ABCDEFGHIJ',
    SERVICE_APNS_TEAM_ID: 'KLMNOPQRST',
    SERVICE_APNS_TOPIC: 'org.example.heliograph',
    SERVICE_APNS_HOST: `127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
  return { env, end }
}

/** A gateway with a device of the provider; the threads of dispatch, and what the frontend is sent. */
async function startDispatching(t: ExecutionContext) {
  const dispatchers: Spawned[] = []
  const received: string[] = []
  const threadsOf = (threads: Threads): Threads => ({
    wire: () => threads.wire(),
    spawn: (start, onEnd) => {
      const spawned = threads.spawn(start, onEnd)
      if (start.name === 'dispatch') dispatchers.push(spawned)
      const on: Wire['on'] = (event, listener) =>
        spawned.wire.on(event, (sent) => {
          received.push(JSON.stringify(sent))
          listener(sent)
        })
      return { ...spawned, wire: { ...spawned.wire, on } }
    },
  })
  const runtime = new HandTurnedRuntime(START_MS)
  const { env, end } = await silentProvider(t)
  const gateway = await startSoleGateway(t, runtime, { env, threadsOf })
  t.teardown(end)
  await addChannel(gateway, A, [])
  await runtime.until(addPushDevice(gateway.backend.stores, A, 1))
  return { gateway, runtime, dispatchers, received }
}

/** Waits for a number of pushes that dispatch has claimed, without time passing. */
async function untilHeld(gateway: SoleGateway, pushes: number): Promise<void> {
  for (let round = 0; round < 1_000; round += 1) {
    if ((await metricOf(gateway, 'push_held')) === pushes) return
  }
  throw new Error(`dispatch does not hold ${pushes} pushes`)
}

const send = ({ sink, runtime }: SoleGateway, body: string) =>
  runtime.until(sink.accept(message({ channelId: A, acceptedAt: START_MS, fields: { body } })))

test('keeper/2: a push goes from the engine to dispatch at once, and the frontend sees none of it', async (t) => {
  const { gateway, received } = await startDispatching(t)
  await send(gateway, 'for the device alone')
  await untilHeld(gateway, 1)
  t.true(received.length > 0)
  t.deepEqual(
    received.filter((text) => /token 1|for the device alone/.test(text)),
    [],
  )
})

test('keeper/1: when dispatch ends, another thread takes its pushes over and hears of new ones', async (t) => {
  const { gateway, runtime, dispatchers } = await startDispatching(t)
  await send(gateway, 'one')
  await untilHeld(gateway, 1)
  await dispatchers[0]?.terminate()
  await runtime.pass(1_000)
  await untilHeld(gateway, 1)
  t.is(dispatchers.length, 2)
  await send(gateway, 'two')
  await untilHeld(gateway, 2)
  t.deepEqual(gateway.failures, [])
})

// Goal: the doctor says of each listener of MQTT whether it answers, and guesses nothing at it.

import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import test from 'ava'

import type { Finding } from '#src/cli/doctor/finding'
import { examineMqtt } from '#src/cli/doctor/mqtt'
import { serveMqtt } from '#test/support/mqtt-server'

const HOST = '127.0.0.1'

async function findings(port: number | null): Promise<readonly Finding[]> {
  const found: Finding[] = []
  const ports = { mqtt_port: port, mqtts_port: null }
  for await (const finding of examineMqtt(ports, HOST, 0)) found.push(finding)
  return found
}

test('a listener that answers is fine, and no credential was refused', async (t) => {
  const { port, logger } = await serveMqtt(t)
  t.like(await findings(port), [{ check: 'MQTT', result: 'ok' }])
  t.deepEqual(logger.lines, [])
})

test('a listener that is off is skipped', async (t) => {
  t.like(await findings(null), [{ check: 'MQTT', result: 'skipped' }])
})

for (const [name, answer] of [
  ['says nothing', ''],
  ['speaks another protocol', 'HTTP/1.1 400 Bad Request'],
] as const) {
  test(`a port that ${name} is a problem`, async (t) => {
    const server = createServer((socket) => socket.end(answer))
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    t.like(await findings(port), [{ check: 'MQTT', result: 'problem' }])
  })
}

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import test from 'ava'

import { connectBulkSocket } from '#src/store/mysql/wire/bulk-socket'

const VERSION = '5.5.5-10.11.14-MariaDB'
const IS_MYSQL = 1
const METADATA = 8
const BULK = 4

interface Said {
  readonly capabilities: number
  readonly extensions: number
}

/** A greeting: header, protocol, version, thread, scramble, capabilities, reserved, the rest. */
function greetingOf({ capabilities, extensions }: Said): Buffer {
  const behind = Buffer.alloc(60, 0xff)
  behind[13] = capabilities
  behind[27] = extensions
  return Buffer.concat([Buffer.from([0, 0, 0, 0, 10]), Buffer.from(`${VERSION}\0`), behind])
}

/** What the driver answers: header, capabilities, packet size, character set, reserved, names. */
function answerOf({ capabilities, extensions }: Said, bytes = 80): Buffer {
  const answer = Buffer.alloc(bytes)
  answer[4] = capabilities
  answer[32] = extensions
  return answer
}

const MARIADB: Said = { capabilities: 0, extensions: METADATA | BULK }
const DRIVER: Said = { capabilities: 0, extensions: METADATA }

/** Says a greeting to a socket, and gives what came of the answer. */
async function met(greeting: readonly Buffer[], answer: Buffer) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connectBulkSocket({ port, host: '127.0.0.1' })
  const [there] = (await once(server, 'connection')) as [Socket]
  there.setNoDelay(true)
  for (const part of greeting) {
    there.write(part)
    await once(socket, 'data')
  }
  socket.write(answer)
  const [heard] = (await once(there, 'data')) as [Buffer]
  socket.write(answerOf(DRIVER))
  const [later] = (await once(there, 'data')) as [Buffer]
  const { isBulk } = socket
  socket.destroy()
  there.destroy()
  server.close()
  return { isBulk, heard, later }
}

test('a server that takes bulk executions is told that it may get them', async (t) => {
  const { isBulk, heard, later } = await met([greetingOf(MARIADB)], answerOf(DRIVER))
  t.true(isBulk)
  t.deepEqual(heard, answerOf({ ...DRIVER, extensions: METADATA | BULK }))
  t.deepEqual(later, answerOf(DRIVER), 'only the answer to the greeting is touched')
})

test('K1: where bulk executions are not agreed on nothing is changed', async (t) => {
  const [beginning, rest] = [greetingOf(MARIADB).subarray(0, 30), greetingOf(MARIADB).subarray(30)]
  const rows: [name: string, greeting: readonly Buffer[], answer: Buffer][] = [
    ['MySQL', [greetingOf({ ...MARIADB, capabilities: IS_MYSQL })], answerOf(DRIVER)],
    ['not offered', [greetingOf({ ...MARIADB, extensions: METADATA })], answerOf(DRIVER)],
    ['in two parts', [beginning, rest], answerOf(DRIVER)],
    ['no greeting', [Buffer.alloc(80, 1)], answerOf(DRIVER)],
    ['a driver of MySQL', [greetingOf(MARIADB)], answerOf({ ...DRIVER, capabilities: IS_MYSQL })],
    ['a request for TLS', [greetingOf(MARIADB)], answerOf(DRIVER, 36)],
  ]
  for (const [name, greeting, answer] of rows) {
    const before = Buffer.from(answer)
    const { isBulk, heard, later } = await met(greeting, answer)
    t.false(isBulk, name)
    t.deepEqual(heard, before, name)
    t.deepEqual(later, answerOf(DRIVER), name)
  }
})

// Goal: one database has one gateway. Whoever starts a second one is told which process has the
// database, and the first goes on as if nothing had happened.
// Method: a list of every file with its size, time and content before and after the second start.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { TEST_MS } from '#test/support/bounds'
import { audit } from '#test/support/audit'
import { PASSWORD, createChannels } from '#test/support/device'
import { get, startGateway, temporaryFolder } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { drive, sender } from '#test/support/load'
import type { Submission } from '#test/support/load'
import { mixedLoad } from '#test/support/mixed-load'
import { seeded } from '#test/support/random'

const WIDTH = 8
const LOAD = 60

interface Fingerprint {
  readonly name: string
  readonly modifiedNs: bigint
  readonly content: string
}

const fingerprints = (directory: string): readonly Fingerprint[] =>
  readdirSync(directory)
    .toSorted()
    .map((name) => {
      const file = join(directory, name)
      return {
        name,
        modifiedNs: statSync(file, { bigint: true }).mtimeNs,
        content: hashOf(file),
      }
    })

const hashOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')

const addressOf = ({ baseUrl }: Gateway): string => baseUrl.replace('http://', '')

/** Everything that it accepts is applied. */
async function servesOn(t: ExecutionContext, gateway: Gateway): Promise<void> {
  const channels = await createChannels(gateway, 2)
  const next = mixedLoad(channels, seeded(3))
  const submitting = sender(gateway.baseUrl, gateway.token, WIDTH)
  let left = LOAD
  const outcomes = await drive(submitting, WIDTH, () => (left-- > 0 ? next() : undefined))
  submitting.close()
  t.true(outcomes.some(({ told }) => told.kind === 'accepted'))
  await audit(t, { gateway, channels, outcomes })
}

const messageTo = (channelId: string): Submission => ({
  path: '/message',
  body: { channel_id: channelId, password: PASSWORD, title: 'late' },
})

/** Gives the submission once. */
function oneOf(submission: Submission): () => Submission | undefined {
  const left = [submission]
  return () => left.pop()
}

test('a second gateway on a database ends with 1 and changes nothing, until the first is killed', async (t) => {
  t.timeout(TEST_MS)
  const directory = await temporaryFolder(t)
  const first = await startGateway(t, { directory })
  const [channel = ''] = await createChannels(first, 1)
  const address = addressOf(first)
  const { pid } = first.process
  const holder = `is in use by process ${pid}, which listens on ${address}`
  first.process.kill('SIGSTOP') // It writes now and then without being asked.
  const before = fingerprints(directory)
  for (const listening of [address, '127.0.0.1:0']) {
    const error = await t.throwsAsync(
      startGateway(t, { directory, env: { SERVICE_HTTP_ADDR: listening } }),
    )
    t.deepEqual(fingerprints(directory), before, listening)
    t.true(error?.message.startsWith('the gateway ended with 1'), error?.message)
    t.true(error?.message.includes(`the database ${first.database} ${holder}`), error?.message)
  }
  first.process.kill('SIGCONT')
  await servesOn(t, first)
  await first.end('SIGKILL')
  const second = await startGateway(t, { directory })
  t.is((await get(second, `/channel/exists?channel_id=${channel}`)).status, 200)
  await servesOn(t, second)
  t.is(await second.end('SIGTERM'), 0)
})

test('databases in use are copied as the manual says, and the copies serve', async (t) => {
  t.timeout(TEST_MS)
  const directory = await temporaryFolder(t)
  const copies = await temporaryFolder(t)
  const first = await startGateway(t, { directory })
  const [channel = ''] = await createChannels(first, 1)
  for (const suffix of ['', '-log']) {
    const database = new DatabaseSync(first.database + suffix, { readOnly: true })
    database.prepare('VACUUM INTO ?').run(join(copies, `gateway.db${suffix}`))
    database.close()
  }
  await servesOn(t, first)
  const second = await startGateway(t, { directory: copies })
  t.is((await get(second, `/channel/exists?channel_id=${channel}`)).status, 200)
  await servesOn(t, second)
})

test('W2: a gateway that lost its database in spite of the lock refuses and ends', async (t) => {
  t.timeout(TEST_MS)
  const directory = await temporaryFolder(t)
  const first = await startGateway(t, { directory })
  const [channelId = ''] = await createChannels(first, 1)
  // Whoever removes the file lets a second gateway in.
  rmSync(`${first.database}-lock`)
  const second = await startGateway(t, { directory })
  const ended = once(first.process, 'exit')
  const late = await drive(sender(first.baseUrl, first.token, 1), 1, oneOf(messageTo(channelId)))
  t.notDeepEqual(
    late.map(({ told }) => told.kind),
    ['accepted'],
  )
  t.is((await ended)[0], 1)
  const last = first.lines.at(-1)
  t.is(last?.fact, 'the gateway cannot go on')
  t.regex(String(last?.['reason']), /another process has taken the database over/)
  await servesOn(t, second)
})

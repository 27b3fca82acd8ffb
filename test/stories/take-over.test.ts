// Goal: a gateway that starts on the files of the version before 1.0 answers as that one did, and
// applies what stands in the log.
// Method: the database has yet to apply five submissions of the log; the answers are those of the
// version before once it had applied them. The clock stands at their time.

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import test from 'ava'

import { formerAnswers, makeFormer } from '#test/support/former-database'
import { aheadBy, get, post, startGateway, temporaryFolder, until } from '#test/support/gateway'

/** The time of the last submission, and some seconds. */
const THEN = 1_795_522_640_000

test('a start takes over the database and the log of the version before', async (t) => {
  const directory = await temporaryFolder(t)
  const url = `sqlite:${join(directory, 'gateway.db')}`
  await makeFormer(url)
  await makeFormer(`${url}-log`, 'log')
  const env = { SERVICE_LANES: '2', ...aheadBy(THEN - Date.now()) }
  const gateway = await startGateway(t, { directory, env, hasForeignPasswords: true })
  const { key, answers } = formerAnswers()
  const ask = async (path: string, body: unknown): Promise<unknown> => {
    const answered = await (body === null ? get(gateway, path) : post(gateway, path, body))
    return answered.body.data
  }
  for (const { path, body, answer } of answers.toReversed()) {
    // The last submission of the log first: once it is applied, all are.
    const isSame = (data: unknown): boolean => isDeepStrictEqual(data, answer)
    if (path.startsWith('/send_status')) await until(() => ask(path, body), isSame)
    t.deepEqual(await ask(path, body), answer, path)
  }
  const update = { channel_id: 'VKKH3846VX1QG10QE62W6HTGH4', password: key, attrs: { level: 9 } }
  const [yes, no] = [
    await post(gateway, '/thing/update', { ...update, thing_id: 'lamp', observed_at: 2_000 }),
    await post(gateway, '/thing/update', { ...update, thing_id: 'door', observed_at: 2_000 }),
  ]
  t.deepEqual([yes.status, no.status], [200, 403])
})

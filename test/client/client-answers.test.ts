import test from 'ava'

import { createClient } from '#src/client/client'
import { HeliographError } from '#src/client/error'

const problem = { localized_message: '频道不存在或凭据不匹配' }
const REFUSAL = { success: false, error: 'a sentence', error_code: 'channel_not_found', problem }

/** A client whose gateway gives this answer, and the headers that it was asked with. */
function rig(answer: () => Response) {
  const headers: Readonly<Record<string, string>>[] = []
  const client = createClient({
    baseUrl: 'http://gateway',
    language: 'zh-CN',
    fetch: async (_, init) => {
      headers.push(init?.headers ?? {})
      return answer()
    },
  })
  return { client, headers }
}

test('readiness is told also while the gateway is not ready', async (t) => {
  const data = { status: 'unready', durability: 'embedded', dependencies: [] }
  const { client } = rig(() => Response.json({ ...REFUSAL, data }, { status: 503 }))
  t.deepEqual(await client.readiness(), data as never)
})

test('metrics are text, and a refusal of them is an error', async (t) => {
  t.is(await rig(() => new Response('heliograph_up 1\n')).client.metrics(), 'heliograph_up 1\n')
  const { client } = rig(() => Response.json(REFUSAL, { status: 404 }))
  await t.throwsAsync(client.metrics(), { instanceOf: HeliographError, message: 'a sentence' })
})

test('a client with a language asks for it, and its errors have the sentence of the gateway', async (t) => {
  const { client, headers } = rig(() => Response.json(REFUSAL, { status: 404 }))
  const asked = client.channel.info({ channel_id: 'A', password: 'the password' })
  const error = await t.throwsAsync(asked, { instanceOf: HeliographError })
  t.is(error.sentence, problem.localized_message)
  t.is(headers[0]?.['accept-language'], 'zh-CN')
})

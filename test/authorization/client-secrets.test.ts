// Goal: the secret of a client can neither be read nor guessed. (provider/4)

import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { hashOf } from '#src/authorization/adapter'
import { Client, REDIRECT, startAuthorization } from '#test/support/authorization-rig'
import type { AuthorizationRig } from '#test/support/authorization-rig'

const codeOf = async (client: Client): Promise<string> => (await client.allowed()).get('code') ?? ''

interface Registered {
  readonly rig: AuthorizationRig
  readonly client: Client
  readonly secret: string
}

/** A client that shows its secret by this method. */
async function registered(t: ExecutionContext, method: string): Promise<Registered> {
  const rig = await startAuthorization(t)
  const more = { redirect_uris: [REDIRECT], token_endpoint_auth_method: method }
  const { json } = await rig.post('/oauth/register', more)
  const { client_id: id = '', client_secret: secret = '' } = json as Record<string, string>
  return { rig, client: new Client(rig, id), secret }
}

for (const method of ['client_secret_post', 'client_secret_basic']) {
  test(`provider/4: a client with a secret needs it by ${method}, and the database holds its hash`, async (t) => {
    const { rig, client, secret } = await registered(t, method)
    const kept = await rig.store.authorization.find('Client', hashOf(client.id), rig.time.nowMs())
    t.true(kept?.payload.includes(hashOf(secret)))
    t.false(kept?.payload.includes(secret))
    for (const wrong of [`${secret}x`, hashOf(secret), '']) {
      const refused = await client.redeemWith(method, wrong, await codeOf(client))
      t.true(refused.status === 400 || refused.status === 401, refused.text)
    }
    t.is((await client.redeemWith(method, secret, await codeOf(client))).status, 200)
  })
}

test('provider/4: a secret is compared by its hash, in a time that tells nothing of it', async (t) => {
  const { client, secret } = await registered(t, 'client_secret_post')
  const compared = comparedTexts(t)
  for (const [sent, status] of [
    [secret, 200],
    [`${secret}x`, 401],
  ] as const) {
    const code = await codeOf(client)
    compared.length = 0
    t.is((await client.redeemWith('client_secret_post', sent, code)).status, status)
    t.true(compared.includes(`${hashOf(secret)} ${hashOf(sent)}`))
  }
})

/** The texts that are compared in constant time from now on until the end of the test. */
function comparedTexts(t: ExecutionContext): string[] {
  const texts: string[] = []
  const { timingSafeEqual } = crypto
  const text = (bytes: NodeJS.ArrayBufferView): string =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  const replaceBy = (compare: typeof timingSafeEqual): void => {
    crypto.timingSafeEqual = compare
    syncBuiltinESMExports()
  }
  t.teardown(() => replaceBy(timingSafeEqual))
  replaceBy((one, other) => {
    texts.push(`${text(one)} ${text(other)}`)
    return timingSafeEqual(one, other)
  })
  return texts
}

// Method: paths as a stranger writes them, over raw connections, for clients normalise them.

import test from 'ava'

import { REDIRECT, startAuthorization } from '#test/support/authorization-rig'
import type { AuthorizationRig } from '#test/support/authorization-rig'

const REGISTRATION = JSON.stringify({ redirect_uris: [REDIRECT] })

/** The status of a registration at a target, which goes out as it is written. */
async function register(rig: AuthorizationRig, target: string): Promise<number> {
  const raw = rig.connect()
  const head = [
    `POST ${target} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${REGISTRATION.length}`,
    'connection: close',
  ]
  raw.socket.write(`${head.join('\r\n')}\r\n\r\n${REGISTRATION}`)
  return Number((await raw.until(/\r\n\r\n/)).split(' ')[1])
}

/** Other spellings of /oauth/register. */
const SPELLINGS = [
  '/oauth/REGISTER',
  '/oauth/Register',
  '/OAUTH/register',
  '/oauth/register/',
  '/oauth/REGISTER/',
  '/oauth/register//',
  '//oauth/register',
  '/oauth//register',
  '/oauth/./register',
  '/oauth/x/../register',
  '/oauth/%72egister',
  '/oauth/register%2F',
  '/oauth%2Fregister',
  '/oauth/register;x',
  '/oauth/register%00',
  '/oauth/register%20',
  '/oauth\\register',
  '/oauth/reg%C4%B1ster',
  '/oauth/register/x',
  '/oauth/',
  '/oauth',
]

for (const spelling of SPELLINGS) {
  test(`rows/1: a registration at ${spelling} is not found`, async (t) => {
    const rig = await startAuthorization(t)
    t.is(await register(rig, spelling), 404)
    t.is(await register(rig, `${spelling}?x=1`), 404)
  })
}

test('rows/1: a registration is found by its path, whatever the query', async (t) => {
  const rig = await startAuthorization(t)
  t.is(await register(rig, '/oauth/register'), 201)
  t.is(await register(rig, '/oauth/register?x=1'), 201)
})

for (const [method, path] of [
  ['GET', '/oauth/AUTHORIZE'],
  ['GET', '/oauth/authorize/'],
  ['GET', '/oauth/JWKS'],
  ['GET', '/oauth/Assistants'],
  ['GET', '/oauth/bind/'],
  ['GET', '/oauth/bind/x/y'],
  ['GET', '/oauth/bind/%78'],
  ['GET', '/oauth/bind/%zz'],
  ['GET', '/oauth/session/%73'],
  ['POST', '/oauth/TOKEN'],
  ['POST', '/oauth/Revoke'],
  ['GET', '/.well-known/OAUTH-authorization-server'],
  ['GET', '/.well-known/openid-configuration/'],
] as const) {
  test(`rows/1: ${method} ${path} is not found`, async (t) => {
    const rig = await startAuthorization(t)
    const raw = rig.connect()
    raw.socket.write(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n`)
    raw.socket.write('content-length: 0\r\n\r\n')
    t.is(Number((await raw.until(/\r\n\r\n/)).split(' ')[1]), 404)
  })
}

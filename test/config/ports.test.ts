// Goal: an operator is told of a gateway token that other computers can guess.

import test from 'ava'

import { hasWeakToken } from '#src/config/ports'
import { startGateway } from '#test/support/gateway'
import { configFrom } from '#test/support/config-from'

const [SHORT, LONG] = ['fifteen-letters', 'sixteen--letters']
const OPEN = '0.0.0.0:8080'

const rows: [env: Readonly<Record<string, string>>, isWeak: boolean][] = [
  [{ SERVICE_TOKEN: SHORT, SERVICE_HTTP_ADDR: OPEN }, true],
  [{ SERVICE_TOKEN: LONG, SERVICE_HTTP_ADDR: OPEN }, false],
  [{ SERVICE_TOKEN: '', SERVICE_HTTP_ADDR: OPEN }, false],
  [{ SERVICE_TOKEN: SHORT }, false],
  [{ SERVICE_TOKEN: SHORT, SERVICE_HTTP_ADDR: '[::1]:8080' }, false],
  [{ SERVICE_TOKEN: SHORT, SERVICE_HTTP_ADDR: '[::]:8080' }, true],
  [{ SERVICE_TOKEN: SHORT, SERVICE_HTTP_ADDR: '10.0.0.1:8080' }, true],
  [{ SERVICE_TOKEN: SHORT, SERVICE_COMPAT_ROOT: 'topic', SERVICE_COMPAT_ADDR: OPEN }, true],
]

test('a short gateway token is weak where a listener is not on the loopback', (t) => {
  for (const [env, isWeak] of rows) t.is(hasWeakToken(configFrom(env)), isWeak, JSON.stringify(env))
})

test('a start warns of a weak gateway token, and does not repeat it', async (t) => {
  // An address of the loopback in another form, so that the test opens no port to others.
  const [weak, strong] = await Promise.all(
    [SHORT, LONG].map(async (token) => {
      const env = { SERVICE_TOKEN: token, SERVICE_HTTP_ADDR: '[::ffff:127.0.0.1]:0' }
      const { lines } = await startGateway(t, { env })
      return JSON.stringify(lines)
    }),
  )
  t.true(weak?.includes('SERVICE_TOKEN can be guessed'))
  t.false(weak?.includes(SHORT))
  t.false(strong?.includes('SERVICE_TOKEN can be guessed'))
})

import test from 'ava'

import { consoleAddress } from '#src/dev/demo/show'

const ACCESS = { channelId: 'C', password: 'a/b', token: 't' }

test("a link to the demo's channel has its secrets behind the #, where no browser sends them", (t) => {
  const url = new URL(consoleAddress('http://127.0.0.1:1', ACCESS))
  t.is(url.pathname, '/console/')
  t.is(url.search, '')
  t.is(url.hash, '#/open/C/a%2Fb/t')
  t.is(
    consoleAddress('http://127.0.0.1:1', { ...ACCESS, token: undefined }),
    'http://127.0.0.1:1/console/#/open/C/a%2Fb',
  )
})

test('the address on a gateway that goes on has no secret', (t) => {
  t.is(consoleAddress('https://push.example', undefined), 'https://push.example/console/')
})

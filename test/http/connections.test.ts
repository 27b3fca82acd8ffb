// Goal: what is counted is what can send requests now.

import { once } from 'node:events'
import { connect } from 'node:net'

import test from 'ava'
import { App, us_socket_local_port } from 'uWebSockets.js'

import { Connections } from '#src/http/connections'
import { until } from '#test/support/until'

test('a connection counts until it is closed or has become a WebSocket', async (t) => {
  const app = App()
  const connections = new Connections((apply) => apply(app))
  app.ws('/ws', {
    upgrade: (response, request, context) => {
      const header = (name: string): string => request.getHeader(`sec-websocket-${name}`)
      response.upgrade({}, header('key'), header('protocol'), header('extensions'), context)
      connections.upgraded()
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) =>
      socket === false ? reject(new Error('no port')) : resolve(us_socket_local_port(socket)),
    )
  })
  t.teardown(() => app.close())

  const one = connect(port, '127.0.0.1')
  const other = connect(port, '127.0.0.1')
  await until('both are open', () => connections.open === 2)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`)
  await once(socket, 'open')
  t.is(connections.open, 2)
  one.destroy()
  await until('one is closed', () => connections.open === 1)
  socket.close()
  await once(socket, 'close')
  other.destroy()
  await until('all are closed', () => connections.open === 0)
})

// Goal: an upgrade that is refused is answered as every other refusal is.

import test from 'ava'

import { ConnectionLimits } from '#src/doors/connection-limits'
import { createWssListener } from '#src/transports/carriers/wss'
import { startIngress } from '#test/support/start-ingress'
import { MANY } from '#test/support/wss-server'

test('an upgrade without the subprotocol gets the whole envelope and its request id', async (t) => {
  const { ingress, meter, connect } = await startIngress(t)
  const open = (): never => t.fail('no session begins')
  createWssListener({
    host: { mount: (apply) => ingress.http.mount(apply), listen: () => ingress.listen() },
    open,
    limits: new ConnectionLimits('wss', MANY, meter),
    clientAddress: ingress.clientAddress,
    refuseUpgrade: ingress.refuseUpgrade,
    upgraded: () => t.fail('no connection becomes a WebSocket'),
  })
  const raw = connect()
  raw.socket.write(
    'GET /private/ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
      'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
      'x-request-id: my.id-1\r\naccept-language: zh-CN\r\n\r\n',
  )
  const [head = '', body = ''] = (await raw.until(/\}$/)).split('\r\n\r\n')
  t.regex(head, /^HTTP\/1\.1 400 Bad Request\r\n/)
  t.regex(head, /\r\nx-request-id: my\.id-1\r\n/)
  t.regex(head, /\r\ncache-control: no-store\r\n/)
  t.regex(head, /\r\nx-content-type-options: nosniff\r\n/)
  t.like(JSON.parse(body), {
    success: false,
    error_code: 'missing_websocket_subprotocol',
    problem: { status: 400, category: 'validation', locale: 'zh-CN', request_id: 'my.id-1' },
  })
  t.is(meter.total('refused_total{missing_websocket_subprotocol}'), 1)
  t.is(meter.total('connections_refused_total{wss,missing_websocket_subprotocol}'), 1)
})

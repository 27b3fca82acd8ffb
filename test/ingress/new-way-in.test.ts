// Goal: a new way in is rows and nothing else. The style here takes a text, has its key in the path
// and answers as no native route does; neither acceptance nor the pipeline knows of it.

import test from 'ava'

import { imitation } from '#src/ingress/answerer'
import type { Style } from '#src/ingress/ingress'
import { bytesBody } from '#src/ingress/reader'
import type { Request } from '#src/ingress/request'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'

const contentType = 'text/plain'

const toy: Style = ({ submissions }) => [
  {
    methods: ['POST', 'PUT'],
    path: '/toy/{key}',
    token: 'required',
    credentials: 'path',
    headers: ['title'],
    reader: bytesBody(100),
    isSafe: false,
    handle: (request: Request<Uint8Array>) => {
      const [channel_id, password] = (request.parameters['key'] ?? '').split(':')
      const body = new TextDecoder().decode(request.body)
      const fields = { channel_id, password, title: request.headers['title'], body }
      return submissions.submit({ model: 'message', action: 'send' }, fields, request)
    },
    answerer: imitation({
      success: ({ entityId }) => ({ contentType, body: `sent ${entityId}\n` }),
      failure: ({ code }, status) => ({ contentType, body: `oh no: ${status} ${code}\n` }),
    }),
    about: { tag: 'Toy', summary: 'Send a text', request: { type: 'string' } },
  },
]

const KEY = `${CHANNEL}:${encodeURIComponent(PASSWORD)}`

test('a style of its own is mounted as rows, and gets everything that acceptance does', async (t) => {
  const rig = await startIngress(t, {
    styles: [toy],
    passwordBudget: { perAddress: 4, total: 100 },
  })
  const send = (key: string, body: string, method = 'POST') =>
    rig.send(`/toy/${key}`, { method, headers: { title: 'T' }, body })
  const sent = await send(KEY, 'the text', 'PUT')
  t.is(sent.status, 200)
  t.is(sent.headers.get('content-type'), 'text/plain')
  const [message] = rig.sink.accepted
  t.like(message, { model: 'message', fields: { title: 'T', body: 'the text' } })
  t.is(sent.text, `sent ${message?.entityId}\n`)
  t.is((await send(`${CHANNEL}:wrong+password`, '')).text, 'oh no: 404 channel_not_found\n')
  t.is((await send(KEY, 'x'.repeat(100))).status, 200)
  t.is((await send(KEY, 'x'.repeat(101))).text, 'oh no: 413 body_too_large\n')
  const limited = await send(KEY, 'once more')
  t.is(limited.text, 'oh no: 429 rate_limited\n')
  t.is(limited.headers.get('ratelimit-limit'), '4')
  t.is(limited.headers.get('retry-after'), '60')
  const unknown = await send(KEY, '', 'DELETE')
  t.is(unknown.text, 'oh no: 405 method_not_allowed\n')
  t.is(unknown.headers.get('allow'), 'POST, PUT')
  t.false(JSON.stringify(rig.logger.lines).includes(PASSWORD))
})

test('the document tells the rows of a style, once for each method', async (t) => {
  const { get } = await startIngress(t, { styles: [toy] })
  const { paths } = (await get('/openapi.json?styles=1')).json as { paths: Record<string, object> }
  t.deepEqual(Object.keys(paths['/toy/{key}'] ?? {}), ['post', 'put'])
})

test('a style behind the gateway token is refused in its own shape', async (t) => {
  const rig = await startIngress(t, { styles: [toy], token: 'secret' })
  const refused = await rig.send(`/toy/${KEY}`, { method: 'POST', body: 'x' })
  t.is(refused.text, 'oh no: 401 authentication_failed\n')
  t.is(refused.headers.get('www-authenticate'), 'Bearer realm="heliograph"')
})

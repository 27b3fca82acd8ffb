import test from 'ava'

import { actionsIn, offeredActions } from '#src/schemas/fields/message-actions'

const FORMS: readonly (readonly [text: unknown, actions: readonly object[]])[] = [
  ['', []],
  [undefined, []],
  [7, []],
  ['[', []],
  ['{"action":"view"}', []],
  ['[{"label":"a"}, 1, null]', []],
  ['[{"action":"view","label":"a","url":"u"}]', [{ action: 'view', label: 'a', url: 'u' }]],
  [
    'view, Silence, https://a.example/#/new, clear=true',
    [{ action: 'view', label: 'Silence', url: 'https://a.example/#/new', clear: true }],
  ],
  [
    ` action=http , label="Off; now, \\"all\\"",url='https://l/a,b', method=PUT, headers.X-A=1, headers.b="2", body=`,
    [
      {
        action: 'http',
        label: 'Off; now, "all"',
        url: 'https://l/a,b',
        method: 'PUT',
        headers: { 'X-A': '1', b: '2' },
      },
    ],
  ],
  [
    'view, A, https://a; broadcast, B, extras.cmd=x; ',
    [
      { action: 'view', label: 'A', url: 'https://a' },
      { action: 'broadcast', label: 'B', extras: { cmd: 'x' } },
    ],
  ],
  ['view, A, https://a, surplus', []],
  ['view, A, https://a?b=c=d', [{ action: 'view', label: 'A', url: 'https://a?b=c=d' }]],
  [
    'view,A,u1;view,B,u2;view,C,u3;view,D,u4',
    ['A', 'B', 'C'].map((label, at) => ({ action: 'view', label, url: `u${at + 1}` })),
  ],
]

test('actions are read in the short form and as JSON, three at most, or none of a bad text', (t) => {
  for (const [text, actions] of FORMS) {
    t.deepEqual(JSON.parse(JSON.stringify(actionsIn(text))), actions, String(text))
  }
})

const OFFERED: readonly (readonly [text: string, offered: readonly object[]])[] = [
  ['view, A, https://a.example', [{ kind: 'view', label: 'A', url: 'https://a.example/' }]],
  ['view, A, tel:+49123', [{ kind: 'view', label: 'A', url: 'tel:+49123' }]],
  [
    'http, A, http://l.example/off, method=put, body=x',
    [
      {
        kind: 'http',
        label: 'A',
        url: 'http://l.example/off',
        method: 'PUT',
        headers: {},
        body: 'x',
      },
    ],
  ],
  ['view, A, javascript:alert(1)', []],
  ['view, A, "  JaVaScRiPt:alert(1)"', []],
  ['view, A, "java\tscript:alert(1)"', []],
  ['view, A, data:text/html\\,x', []],
  ['view, A, file:///etc/passwd', []],
  ['view, A, blob:https://a.example/1', []],
  ['http, A, mailto:a@b.example', []],
  ['http, A, https://a.example, method="GET / HTTP/1.1"', []],
  ['view, " ", https://a.example', []],
  ['view, A, relative/path', []],
  ['broadcast, A, https://a.example', []],
  ['[{"action":"view","label":{"a":1},"url":"https://a.example"}]', []],
  ['[{"action":"view","label":"A","url":["https://a.example"]}]', []],
]

test('a browser offers what opens the web, mail or a phone, and requests to the web alone', (t) => {
  for (const [text, offered] of OFFERED) t.deepEqual(offeredActions(text), offered, text)
  const [long] = offeredActions(`view, ${'x'.repeat(400)}, https://a.example`)
  t.is(long?.label.length, 100)
  const headers = '{"__proto__":"a","x":1,"y":"2"}'
  const [sent] = offeredActions(
    `[{"action":"http","label":"A","url":"https://a","headers":${headers}}]`,
  )
  t.like(sent, { headers: { y: '2' } })
  t.is(Object.getPrototypeOf(sent), Object.prototype)
})

test('no text takes long to read', (t) => {
  for (const part of ['a=', '"\\', ' ', "'a", 'a=\\', ';', ',', 'headers.']) {
    t.true(actionsIn(part.repeat(30_000)).length <= 3, part)
  }
})

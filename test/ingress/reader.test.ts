// Goal: what each reader makes of a body, and what it refuses.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { bytesBody, formBody, jsonBody, multipartBody } from '#src/ingress/reader'
import type { Form, Reader } from '#src/ingress/reader'

/** A value to compare: the texts and the files of a form, anything else as it is. */
const plain = (read: Answer<unknown>): unknown => {
  if (isFault(read)) return read.code
  return read instanceof Uint8Array ? Buffer.from(read).toString('hex') : read
}

const formOf = (read: Answer<Form>): unknown =>
  isFault(read)
    ? read.code
    : {
        texts: [...read.texts],
        files: read.files.map(({ field, fileName, contentType, bytes }) => [
          field,
          fileName,
          contentType,
          Buffer.from(bytes).toString(),
        ]),
      }

const JSON_TYPE = 'application/json; charset=utf-8'
const FORM_TYPE = 'application/x-www-form-urlencoded'

const rows: readonly (readonly [
  name: string,
  reader: Reader,
  contentType: string,
  body: string | Uint8Array,
  expected: unknown,
])[] = [
  ['json', jsonBody(), JSON_TYPE, '{"a":1}', { a: 1 }],
  ['json', jsonBody(), 'text/plain', '{"a":1}', 'missing_json_content_type'],
  ['json', jsonBody(), JSON_TYPE, '{"a":', 'invalid_json_syntax'],
  ['bytes', bytesBody(10), '', Uint8Array.of(0, 0xff), '00ff'],
]

for (const [name, reader, contentType, body, expected] of rows) {
  test(`the ${name} reader makes ${JSON.stringify(expected)} of ${contentType || 'no type'}`, async (t) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    t.deepEqual(plain(await reader.read(bytes, contentType)), expected)
  })
}

test('the bytes reader keeps a copy, because the given bytes do not last', async (t) => {
  const given = Uint8Array.of(1, 2)
  const read = await bytesBody(10).read(given, '')
  given.fill(0)
  t.is(plain(read), '0102')
})

const forms: readonly (readonly [
  contentType: string,
  body: string | Uint8Array,
  expected: unknown,
])[] = [
  [
    FORM_TYPE,
    'title=a+b&desp=%C3%BC&title=c',
    {
      texts: [
        ['title', 'a b'],
        ['desp', 'ü'],
        ['title', 'c'],
      ],
      files: [],
    },
  ],
  [`${FORM_TYPE.toUpperCase()} ; charset=UTF-8`, '', { texts: [], files: [] }],
  ['text/plain', 'title=a', 'unsupported_media_type'],
  [FORM_TYPE, Uint8Array.of(0xff), 'malformed_body'],
]

for (const [contentType, body, expected] of forms) {
  test(`the form reader makes ${JSON.stringify(expected)} of a form of ${contentType}`, async (t) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    t.deepEqual(formOf(await formBody().read(bytes, contentType)), expected)
  })
}

const PART = 'content-disposition: form-data; name='
const MULTIPART = 'multipart/form-data; boundary=b'
const multipartOf = (...parts: readonly string[]): Buffer =>
  Buffer.from(`${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`)

test('the multipart reader gives texts, and the names and bytes of files', async (t) => {
  const body = multipartOf(
    `${PART}"title"\r\n\r\nHello`,
    `${PART}"image"; filename="a b.png"\r\ncontent-type: image/png\r\n\r\nPNG`,
    `${PART}"body"\r\n\r\ntwo\r\nlines ü`,
  )
  t.deepEqual(formOf(await multipartBody().read(body, MULTIPART)), {
    texts: [
      ['title', 'Hello'],
      ['body', 'two\r\nlines ü'],
    ],
    files: [['image', 'a b.png', 'image/png', 'PNG']],
  })
})

const broken: readonly (readonly [
  name: string,
  contentType: string,
  body: Buffer,
  code: string,
])[] = [
  ['of another type', 'application/json', multipartOf(), 'unsupported_media_type'],
  [
    'without a boundary',
    'multipart/form-data',
    multipartOf(`${PART}"a"\r\n\r\nx`),
    'malformed_body',
  ],
  ['that ends too early', MULTIPART, Buffer.from(`--b\r\n${PART}"a"\r\n\r\nx`), 'malformed_body'],
  ['without a name', MULTIPART, multipartOf('content-type: text/plain\r\n\r\nx'), 'malformed_body'],
]

for (const [name, contentType, body, code] of broken) {
  test(`a multipart form ${name} is refused with ${code}`, async (t) => {
    t.is(formOf(await multipartBody().read(body, contentType)), code)
  })
}

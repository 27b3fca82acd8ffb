// One HTTP request as bytes: nothing between the test and the socket adds or repairs anything.

import { connect } from 'node:net'
import { once } from 'node:events'

export interface RawRequest {
  /** Method and target, for instance `POST /path?query`. */
  readonly line: string
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
}

export interface RawAnswer {
  readonly status: number
  /** Header lines in lower case. */
  readonly headers: readonly string[]
  readonly text: string
  /** The body as JSON; an empty object when it is none. */
  readonly json: Readonly<Record<string, unknown>>
}

/** Sends it with a Content-Length where it has a body, and reads the answer to its end. */
export async function rawRequest(port: number, request: RawRequest): Promise<RawAnswer> {
  const body = Buffer.from(request.body ?? '')
  const length = request.body === undefined ? [] : [`Content-Length: ${body.length}`]
  const headers = request.headers ?? []
  const hasHost = headers.some((header) => /^host:/i.test(header))
  const host = hasHost ? [] : ['Host: localhost']
  const lines = [`${request.line} HTTP/1.1`, ...host, ...headers, ...length]
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  let seen = ''
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    seen = Buffer.concat(chunks).toString()
    const [, head = '', rest = ''] = /^([^]*?)\r\n\r\n([^]*)$/.exec(seen) ?? []
    const expected = /content-length: (\d+)/i.exec(head)?.[1]
    if (expected !== undefined && Buffer.byteLength(rest) >= Number(expected)) socket.end()
  })
  socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]))
  await once(socket, 'close')
  return answerOf(seen)
}

function answerOf(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [status = '', ...headers] = head.split('\r\n')
  const body = rest.join('\r\n\r\n')
  return {
    status: Number(status.split(' ')[1]),
    headers: headers.map((line) => line.toLowerCase()),
    text: body,
    json: body.startsWith('{') ? (JSON.parse(body) as Record<string, unknown>) : {},
  }
}

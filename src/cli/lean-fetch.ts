// Sends one HTTP request over node:http, in the form of fetch that the client uses.
//
// Node's own fetch takes longer to load than the rest of a short command.

import type { Fetch, FetchAnswer } from '#src/client/runtime'

/** No answer of a gateway is this long. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/** Rejects when there is no answer, or when the signal is aborted. */
export const leanFetch: Fetch = async (
  url,
  { method = 'GET', headers = {}, body, signal } = {},
) => {
  // An import of these modules would load all their parts, fetch among them.
  const { request } = url.startsWith('https:')
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http')
  const { promise, resolve, reject } = Promise.withResolvers<FetchAnswer>()
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const outgoing = request(
    url,
    { method, headers: { ...headers, ...length }, ...(signal && { signal }) },
    (answer) => {
      const chunks: Buffer[] = []
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= ANSWER_BYTES_MAX) chunks.push(chunk)
        else outgoing.destroy(new Error('the answer is too long'))
      })
      answer.on('error', reject)
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const status = answer.statusCode ?? 0
        resolve({
          ok: status >= 200 && status < 300,
          status,
          headers: { get: (name) => headerText(answer.headers[name.toLowerCase()]) },
          text: async () => text,
        })
      })
    },
  )
  // As with fetch, the cause tells whether the request can have reached the gateway.
  outgoing.on('error', (error) => reject(new Error('there is no answer', { cause: error })))
  outgoing.end(body)
  return await promise
}

const headerText = (value: string | string[] | undefined): string | null =>
  Array.isArray(value) ? value.join(', ') : (value ?? null)

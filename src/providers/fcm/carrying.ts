// Gives firebase-admin connections of our own. A request of its own ones never ends when Google
// resets its stream without an error or ends the connection, and waits in a batch for Retry-After.

import type { Messaging } from 'firebase-admin/messaging'

import type { Connections } from '#src/providers/http2/connections'
import type { Answer } from '#src/providers/http2/exchange'

interface LibraryRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly data: object
}

/** An answer as the library reads it. */
interface LibraryAnswer {
  readonly status: number
  readonly headers: Answer['headers']
  readonly text: string
  readonly data: unknown
  readonly isJson: () => boolean
}

/** The part of the library that sends requests. */
interface LibraryClient {
  readonly send: (request: LibraryRequest) => Promise<LibraryAnswer>
}

/** The part that keeps an access token, or gets a new one. */
interface LibraryTokens {
  readonly getToken: (isNew: boolean) => Promise<{ readonly accessToken: string }>
}

const UNAUTHENTICATED = 401

/**
 * Makes the library send each message once, over these connections, and get another access token
 * after a refused one. Returns it.
 */
export function carry(messaging: Messaging, connections: Connections): Messaging {
  // Without this the library opens a connection for each call, which nothing would use.
  messaging.enableLegacyHttpTransport()
  const handler = Reflect.get(messaging, 'messagingRequestHandler') as { httpClient: LibraryClient }
  const tokens = Reflect.get(messaging.app, 'INTERNAL') as LibraryTokens
  let isRefused = false
  handler.httpClient = {
    send: async ({ url, headers, data }) => {
      const { accessToken } = await tokens.getToken(isRefused)
      isRefused = false // Not before: the library repeats a failure as long as the old token lives.
      const answer = await connections.request({
        path: new URL(url).pathname,
        headers: {
          ...headers,
          authorization: `Bearer ${accessToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(data),
      })
      isRefused ||= answer.status === UNAUTHENTICATED
      return answerOf(answer)
    },
  }
  return messaging
}

/** Google has taken a message once it answers 200, also if the rest of its answer is lost. */
function answerOf({ status, headers, body: text }: Answer): LibraryAnswer {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    data = undefined
  }
  return { status, headers, text, data: data ?? {}, isJson: () => data !== undefined }
}

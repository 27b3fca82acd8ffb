// Apple's push service: apns2 over a few HTTP/2 connections that this file opens.

import { createPrivateKey } from 'node:crypto'

import { ApnsClient } from 'apns2'
import type { ApnsOptions } from 'apns2'
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'

import type { Outcome, Provider, Push } from '#domain/push'
import { CredentialsError, openCredentials } from '#src/providers/credentials-file'
import type { ProviderEdge } from '#src/providers/edge'
import { outcomeOf } from './answers.ts'
import { notificationOf } from './payload.ts'

export interface ApnsSettings {
  readonly keyFile: string
  readonly keyId: string
  readonly teamId: string
  readonly topic: string
  /** `host` or `host:port`. */
  readonly host: string
}

/** Apple asks for few connections that stay, with many streams each. */
const CONNECTIONS = 4
const STREAMS_MAX = 500
/** Streams of one connection before the server has told its limit. */
const STREAMS_FIRST = 100
const CONNECT_MS_MAX = 10_000
const ANSWER_MS_MAX = 15_000
/** Milliseconds for which an idle connection stays open. */
const IDLE_MS_MAX = 600_000

/** Rejects with a sentence for the operator when the key cannot be used. */
export async function openApns(settings: ApnsSettings, edge: ProviderEdge): Promise<Provider> {
  const { keyFile, topic } = settings
  const { runtime, renewed } = edge
  let client: ApnsClient
  const file = await openCredentials(
    {
      setting: 'SERVICE_APNS_KEY_FILE',
      path: keyFile,
      parse: checkKey,
      changed: (signingKey) => {
        const before = client
        client = clientOf(settings, signingKey)
        void before.close()
        renewed()
      },
    },
    edge,
  )
  client = clientOf(settings, file.credentials)
  return {
    name: 'apns',
    send: async (push: Push): Promise<Outcome> => {
      const notification = notificationOf(push, topic)
      try {
        await client.send(notification).catch((error: unknown) => {
          // The connection refused the stream, so the server processed nothing of the request.
          if (!isRefusedStream(error)) throw error
          return client.send(notification)
        })
        return { kind: 'delivered' }
      } catch (error) {
        return outcomeOf(error, runtime.nowMs())
      }
    },
    close: async () => {
      file.close()
      await client.destroy()
    },
  }
}

const clientOf = ({ teamId, keyId, topic, host }: ApnsSettings, signingKey: string): ApnsClient =>
  new Client({ team: teamId, keyId, signingKey, defaultTopic: topic }, host)

const isRefusedStream = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('NGHTTP2_REFUSED_STREAM')

function checkKey(text: string): string {
  try {
    const key = createPrivateKey(text)
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return text
  } catch {
    // Its message may quote the key.
  }
  throw new CredentialsError('is not a .p8 file as Apple gives it: a P-256 private key in PEM')
}

/**
 * apns2 with our connections: its own serve one request at a time each and wait five minutes for an
 * answer, and it reads no Retry-After.
 */
class Client extends ApnsClient {
  override readonly client: Pool

  constructor(options: ApnsOptions, host: string) {
    super(options)
    this.client = connectionsTo(host)
  }
}

function connectionsTo(host: string): Pool {
  const pool = new Pool(`https://${host.includes(':') ? host : `${host}:443`}`, {
    allowH2: true,
    connections: CONNECTIONS,
    pipelining: STREAMS_MAX,
    maxConcurrentStreams: STREAMS_FIRST,
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
    connect: { timeout: CONNECT_MS_MAX },
  })
  return Object.assign(pool, { request: withRetryAfter(pool.request.bind(pool)) })
}

type Request = (options: Dispatcher.RequestOptions) => Promise<Answer>
type Answer = Awaited<ReturnType<Pool['request']>>

/** Puts the header into the body, from which the library makes its error. */
const withRetryAfter = (request: Request) => async (options: Dispatcher.RequestOptions) => {
  const answer = await request(options)
  const { statusCode, headers, body } = answer
  if (statusCode === 200) {
    // The library does not read this body, and an unread body keeps its stream open.
    void body.dump().catch(() => undefined)
    return { statusCode }
  }
  const told = body.json() as Promise<object>
  const json = async (): Promise<object> => ({
    ...(await told),
    retryAfter: headers['retry-after'],
  })
  return { statusCode, body: { json } }
}

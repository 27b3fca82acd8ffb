// Sends pushes to Apple's push service with apns2, over HTTP/2 connections of our own.

import { createPrivateKey } from 'node:crypto'

import { ApnsClient, Notification, Priority, PushType } from 'apns2'
import type { NotificationOptions } from 'apns2'

import type { Outcome, Provider, Push } from '#domain/push'
import type { Severity } from '#domain/submission'
import { contentWithin, loudnessOf } from '#src/providers/content'
import type { Content } from '#src/providers/content'
import { CredentialsError, openCredentials } from '#src/providers/credentials-file'
import type { ProviderEdge } from '#src/providers/edge'
import { Connections } from '#src/providers/http2/connections'
import type { Answer, Request } from '#src/providers/http2/exchange'
import { outcomeOf } from './answers.ts'
import type { ApnsSettings } from './settings.ts'

/** Rejects with a sentence for the operator when the key cannot be used. */
export async function openApns(settings: ApnsSettings, edge: ProviderEdge): Promise<Provider> {
  const { keyFile, topic } = settings
  const { runtime, credentialsChanged } = edge
  const clientOf = (signingKey: string): ApnsClient => new Client(settings, signingKey, runtime)
  let client: ApnsClient
  const file = await openCredentials(
    {
      setting: 'SERVICE_APNS_KEY_FILE',
      path: keyFile,
      parse: checkKey,
      changed: (signingKey) => {
        const earlier = client
        client = clientOf(signingKey)
        void earlier.close()
        credentialsChanged()
      },
    },
    edge,
  )
  client = clientOf(file.credentials)
  return {
    name: 'apns',
    send: async (push: Push): Promise<Outcome> => {
      const notification = notificationOf(push, topic)
      try {
        await client.send(notification)
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

function checkKey(text: string): string {
  try {
    const key = createPrivateKey(text)
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return text
  } catch {
    // The error's message may quote the key.
  }
  throw new CredentialsError('is not a .p8 file as Apple gives it: a P-256 private key in PEM')
}

/**
 * Uses apns2 with connections of our own. Those of apns2 serve one request at a time each, wait
 * five minutes for an answer, ignore Retry-After, and take twice as long. (docs/benchmarks.md)
 */
class Client extends ApnsClient {
  override readonly client: ApnsClient['client']

  constructor(
    { teamId: team, keyId, topic: defaultTopic, host }: ApnsSettings,
    signingKey: string,
    runtime: ProviderEdge['runtime'],
  ) {
    super({ team, keyId, signingKey, defaultTopic, keepAlive: false })
    const authority = host.includes(':') ? host : `${host}:443`
    const connections = new Connections(`https://${authority}`, runtime)
    const client: Transport = {
      request: async (request) => responseOf(await connections.request(request)),
      close: () => connections.close(),
      destroy: () => connections.destroy(),
    }
    // apns2 demands the type of its own client, but calls only these three methods.
    this.client = client as unknown as ApnsClient['client']
  }
}

interface Transport {
  readonly request: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
  readonly destroy: () => Promise<void>
}

interface Response {
  readonly statusCode: number
  readonly body: { readonly json: () => Promise<object> }
}

/** Adds Retry-After to the body, from which the library makes its error. */
const responseOf = ({ status, headers, body }: Answer): Response => ({
  statusCode: status,
  body: {
    json: () =>
      Promise.resolve({ ...(JSON.parse(body) as object), retryAfter: headers['retry-after'] }),
  },
})

// Makes Apple's notification for a push. (decisions.md 11)

/** Specification: Severity mapping. */
const INTERRUPTION: Readonly<Record<Severity, string>> = {
  critical: 'critical',
  high: 'time-sensitive',
  normal: 'active',
  low: 'passive',
}

const contentFor = contentWithin((content, push) =>
  notificationWith(push, '', content).buildApnsOptions(),
)

/** Returns the whole entry or, if that is too large, a notification that makes the app fetch it. */
export const notificationOf = (push: Push, topic: string): Notification =>
  notificationWith(push, topic, contentFor(push))

function notificationWith(push: Push, topic: string, content: Content): Notification {
  const { title, body, data } = content
  const loudness = loudnessOf(push, content)
  const sound = soundOf(loudness)
  return new Notification(push.route.token, {
    type: PushType.alert,
    topic,
    alert: { title, body },
    ...(sound !== undefined && { sound }),
    threadId: push.entry.channelId,
    mutableContent: true,
    priority: loudness === 'low' ? Priority.throttled : Priority.immediate,
    expiration: Math.floor(push.expiresAt / 1000),
    // A Message has an id of its own, so a repeated push replaces the first on the device.
    collapseId: push.entry.entityId,
    aps: { 'interruption-level': INTERRUPTION[loudness] },
    data,
  })
}

/** Passive pushes make no sound; critical ones sound even on a muted device. */
function soundOf(severity: Severity): NotificationOptions['sound'] {
  if (severity === 'low') return undefined
  return severity === 'critical' ? { critical: 1, name: 'default', volume: 1 } : 'default'
}

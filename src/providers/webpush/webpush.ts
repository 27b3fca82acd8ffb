// Sends pushes to browsers by Web Push, and to apps by UnifiedPush, whose distributors take the
// same requests. (RFC 8030, 8188, 8291, 8292; decisions.md 11)

import type { Outcome, Provider, Push } from '#domain/push'
import { readSubscription } from '#domain/push/subscription'
import { isPublicAddress } from '#src/outbound/address-guard'
import { nameLookup } from '#src/outbound/name-lookup'
import type { ProviderEdge } from '#src/providers/edge'
import { outcomeFor } from '#src/providers/meaning'
import { TOO_LARGE, outcomeOf, unanswered } from './answers.ts'
import { connectorsFor } from './connector.ts'
import type { ConnectorOptions } from './connector.ts'
import { SALT_BYTES, encrypt } from './encryption.ts'
import type { Reply } from './exchange.ts'
import { noticesFor, ttlOf } from './payload.ts'
import type { Notice } from './payload.ts'
import { Services } from './services.ts'
import type { WebPushSettings } from './settings.ts'
import { authorizationOf, vapidKeys } from './vapid.ts'

/** Milliseconds for which a push waits while as many services as are remembered are in use. */
const CROWDED_MS = 5_000

/** `guard` replaces the guard of addresses, in tests only. */
export async function openWebPush(
  { subject, privateNetworks, baseUrl }: WebPushSettings,
  edge: ProviderEdge,
  guard: Partial<Omit<ConnectorOptions, 'privateNetworks'>> = {},
): Promise<Provider> {
  const { runtime, secrets, meter } = edge
  const keys = await vapidKeys(secrets)
  const { resolve = nameLookup(), isPublic = isPublicAddress } = guard
  const services = new Services({
    runtime,
    meter,
    connectorOf: connectorsFor({ resolve, isPublic, privateNetworks }),
    authorize: (audience) => authorizationOf(keys, { audience, subject, nowMs: runtime.nowMs() }),
  })
  const notices = noticesFor(baseUrl)
  const sender = new Sender(services, runtime)
  return {
    name: 'webpush',
    send: async (push) => {
      const notice = notices.whole(push)
      const reply = await sender.send(push, notice)
      // The rest comes from the feed.
      if (statusOf(reply) !== TOO_LARGE || notice.isWakeUp) return sender.outcomeOf(reply)
      return sender.outcomeOf(await sender.send(push, notices.wakeUp(push)))
    },
    close: () => services.close(),
  }
}

const statusOf = (reply: Reply | Outcome): number =>
  reply.kind === 'answered' ? reply.answer.status : 0

class Sender {
  readonly #services: Services
  readonly #runtime: ProviderEdge['runtime']

  constructor(services: Services, runtime: ProviderEdge['runtime']) {
    this.#services = services
    this.#runtime = runtime
  }

  /** Returns the reply, or the outcome of a push that goes to no service. */
  async send(push: Push, notice: Notice): Promise<Reply | Outcome> {
    const subscription = readSubscription(push.route.token)
    if (subscription === undefined) return outcomeFor('refused', 'bad-subscription')
    const { origin, pathname, search } = new URL(subscription.endpoint)
    const service = this.#services.of(origin)
    if (service === undefined) return unanswered('too-many-services', CROWDED_MS)
    const body = encrypted(notice.cleartext, subscription.keys, this.#runtime.entropy(SALT_BYTES))
    if (body === undefined) return outcomeFor('refused', 'bad-key')
    const headers = {
      authorization: service.authorization,
      ttl: String(ttlOf(push, this.#runtime.nowMs())),
      urgency: notice.urgency,
      topic: notice.topic,
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
    }
    return service.send({ path: `${pathname}${search}`, headers, body })
  }

  outcomeOf(reply: Reply | Outcome): Outcome {
    if (reply.kind === 'answered') return outcomeOf(reply.answer, this.#runtime.nowMs())
    if (reply.kind === 'unanswered') return unanswered(reply.reason, reply.afterMs)
    if (reply.kind === 'forbidden') return outcomeFor('refused', 'address-not-allowed')
    return reply
  }
}

/** Returns undefined when the point of the device is none of the curve. */
function encrypted(
  cleartext: Buffer,
  { p256dh, auth }: { readonly p256dh: string; readonly auth: string },
  salt: Buffer,
): Buffer | undefined {
  const keys = { point: Buffer.from(p256dh, 'base64url'), secret: Buffer.from(auth, 'base64url') }
  try {
    return encrypt(cleartext, keys, { salt })
  } catch {
    return undefined
  }
}

// Web Push against a stand-in: the provider, its subscriptions, and http_ece, which decrypts.

import { createECDH } from 'node:crypto'
import { createRequire } from 'node:module'

import type { ExecutionContext } from 'ava'

import type { Provider, Push } from '#domain/push'
import { WebPushServer } from '#test/support/web-push-server'
import type { MadeSubscription, WebPush } from '#test/support/web-push-server'
import type { NameLookup } from '#src/outbound/name-lookup'
import { openWebPush } from '#src/providers/webpush/webpush'
import { SERVER_CERTIFICATE, pushOf, testEdge } from '#test/support/push-servers'
import type { PushParts, TestEdge } from '#test/support/push-servers'

const require = createRequire(import.meta.url)
const { decrypt } = require('http_ece') as {
  readonly decrypt: (body: Buffer, options: object) => Buffer
}

export const SUBJECT = 'mailto:push@gateway.example'
export const LOOPBACK = ['127.0.0.0/8']

export interface WebPushBench {
  readonly service: WebPushServer
  readonly provider: Provider
  readonly edge: TestEdge
  readonly subscription: MadeSubscription
}

export interface BenchOptions {
  readonly privateNetworks?: readonly string[]
  readonly resolve?: NameLookup
  readonly isHttp?: true
  readonly host?: string
}

export async function webPushBench(
  t: ExecutionContext,
  { privateNetworks = LOOPBACK, resolve, isHttp, host }: BenchOptions = {},
): Promise<WebPushBench> {
  const tls = isHttp === true ? {} : { certificate: SERVER_CERTIFICATE }
  const service = await WebPushServer.start({ ...tls, ...(host !== undefined && { host }) })
  t.teardown(() => service.close())
  const edge = testEdge()
  const settings = { subject: SUBJECT, privateNetworks, baseUrl: 'https://gateway.example' }
  const guard = resolve === undefined ? {} : { resolve }
  const provider = await openWebPush(settings, edge, guard)
  t.teardown(() => provider.close())
  return { service, provider, edge, subscription: service.subscription() }
}

export const webPushOf = ({ json }: MadeSubscription, parts: PushParts = {}): Push =>
  pushOf('webpush', { ...parts, token: json })

/** Returns the cleartext of a body as another implementation decrypts it. */
export function decrypted(
  { body }: Pick<WebPush, 'body'>,
  { privateKey, authSecret }: Pick<MadeSubscription, 'privateKey' | 'authSecret'>,
): string {
  const key = createECDH('prime256v1')
  key.setPrivateKey(privateKey)
  const options = { version: 'aes128gcm', privateKey: key, authSecret }
  return decrypt(body, options).toString()
}

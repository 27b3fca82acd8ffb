// The stand-ins for Apple's and Google's push services, with the providers that talk to them: the
// real libraries over real HTTP/2 and TLS.

import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

import type { ExecutionContext } from 'ava'

import type { Provider, Push } from '#domain/push'
import { entrySeverity } from '#domain/push/entry-text'
import type { ProviderName } from '#domain/push/providers'
import { parseOperationId, parseMessageId } from '#domain/identity'
import type { FeedEntry } from '#domain/feed'
import type { Fields } from '#domain/submission'
import { ApnsServer } from '#src/dev/servers/push/apns-server'
import { FCM_HOSTS, FcmServer } from '#src/dev/servers/push/fcm-server'
import { redirectConnections } from '#src/dev/servers/push/redirect'
import { selfSigned } from '#src/dev/servers/certificate'
import { openApns } from '#src/providers/apns/apns'
import type { ProviderEdge } from '#src/providers/edge'
import { openFcm } from '#src/providers/fcm/fcm'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { temporaryFolder } from '#test/support/gateway'
import { channel } from '#test/support/submissions'

export const TOPIC = 'org.example.app'
const APPLE = { keyId: 'KEY1234567', teamId: 'TEAM123456', topic: TOPIC }
const GOOGLE = { projectId: 'project-1', clientEmail: 'push@project-1.example' }
/** 32 bytes in hex, as Apple's tokens are. */
export const appleToken = (number: number): string => number.toString(16).padStart(64, '0')
export const googleToken = (number: number): string => `google-token-of-${number}`

export const SERVER_CERTIFICATE = selfSigned(['localhost', '127.0.0.1', ...FCM_HOSTS], {
  nowMs: Date.now(),
})
setDefaultCACertificates([...getCACertificates('default'), SERVER_CERTIFICATE.certificate])

const apnsKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

const fcmKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

let madeKeys: readonly [string, string] | undefined
/** Two keys that all tests share: to make one takes a tenth of a second. */
export const fcmKeys = (): readonly [string, string] => (madeKeys ??= [fcmKey(), fcmKey()])

export const accountText = (key: string): string =>
  JSON.stringify({
    type: 'service_account',
    project_id: GOOGLE.projectId,
    client_email: GOOGLE.clientEmail,
    private_key: key,
  })

export interface TestEdge extends ProviderEdge {
  readonly logger: FakeLogger
  readonly meter: FakeMeter
  /** The periodic checks of files and connections, which a test calls by hand. */
  readonly look: () => void
  /** Moves the monotonic clock ahead. */
  readonly pass: (milliseconds: number) => void
  readonly renewals: () => number
}

export function testEdge(): TestEdge {
  const logger = new FakeLogger()
  const chores: (() => void)[] = []
  let renewals = 0
  let aheadMs = 0
  return {
    logger,
    meter: new FakeMeter(),
    secrets: { kept: (_, first) => Promise.resolve(first) },
    renewals: () => renewals,
    credentialsChanged: () => (renewals += 1),
    look: () => chores.forEach((chore) => chore()),
    pass: (milliseconds) => (aheadMs += milliseconds),
    runtime: {
      nowMs: Date.now,
      monotonicMs: () => performance.now() + aheadMs,
      entropy: randomBytes,
      every: (_, chore) => {
        chores.push(chore)
        return () => undefined
      },
    },
  }
}

export interface Bench<Server> {
  readonly server: Server
  readonly provider: Provider
  readonly edge: TestEdge
  readonly keyFile: string
  /** Another key, in the form of the file. */
  readonly otherKey: string
}

export async function apnsBench(
  t: ExecutionContext,
  options: { readonly streamsMax?: number } = {},
): Promise<Bench<ApnsServer>> {
  const key = apnsKey()
  const server = await ApnsServer.start({
    certificate: SERVER_CERTIFICATE,
    ...APPLE,
    key,
    nowMs: Date.now,
    ...options,
  })
  t.teardown(() => server.standIn.close())
  const keyFile = join(await temporaryFolder(t), 'key.p8')
  await writeFile(keyFile, key)
  const edge = testEdge()
  const provider = await openApns({ keyFile, ...APPLE, host: server.host }, edge)
  t.teardown(() => provider.close())
  return { server, provider, edge, keyFile, otherKey: apnsKey() }
}

export async function fcmBench(t: ExecutionContext): Promise<Bench<FcmServer>> {
  const [key, other] = fcmKeys()
  const server = await FcmServer.start({
    certificate: SERVER_CERTIFICATE,
    ...GOOGLE,
    key,
    nowMs: Date.now,
  })
  t.teardown(() => server.standIn.close())
  t.teardown(redirectConnections(server.redirects))
  const keyFile = join(await temporaryFolder(t), 'account.json')
  await writeFile(keyFile, accountText(key))
  const edge = testEdge()
  const provider = await openFcm({ credentialsFile: keyFile }, edge)
  t.teardown(() => provider.close())
  return { server, provider, edge, keyFile, otherKey: accountText(other) }
}

let made = 0

const PLATFORM = { apns: 'ios', fcm: 'android', webpush: 'web' } as const

export interface PushParts {
  readonly token?: string
  readonly entry?: Partial<FeedEntry>
  readonly fields?: object
  readonly entityTitle?: string
  /** The present fields of its Event. */
  readonly present?: Fields
  readonly expiresAt?: number
}

/** A push of a Message with a title; a test gives only the members that it cares about. */
export function pushOf(provider: ProviderName, parts: PushParts = {}): Push {
  made += 1
  const opId = parseOperationId(`operation-${made}`)
  const entityId = parseMessageId(made.toString(16).padStart(32, '0'))
  if (opId === undefined || entityId === undefined) throw new Error('not an id')
  const token = provider === 'apns' ? appleToken(made) : googleToken(made)
  const fields = parts.fields ?? { title: 'a title' }
  const entry: FeedEntry = {
    channelId: channel(1),
    seq: 7,
    opId,
    model: 'message',
    action: 'send',
    entityId,
    acceptedAt: 1_000,
    payload: JSON.stringify(fields),
    ...parts.entry,
  }
  return {
    id: made,
    provider,
    route: {
      device: made,
      platform: PLATFORM[provider],
      token: parts.token ?? token,
      revision: 1,
    },
    entry,
    severity: entrySeverity(entry, fields as Fields, parts.present),
    attempts: 0,
    expiresAt: parts.expiresAt ?? Date.now() + 86_400_000,
    queuedAt: 1_000,
    isPassive: false,
    ...(parts.entityTitle !== undefined && { entityTitle: parts.entityTitle }),
  }
}

// Sends pushes to Google's push service with firebase-admin, over HTTP/2 connections of our own.

import { createPrivateKey } from 'node:crypto'

import { deleteApp, initializeApp } from 'firebase-admin/app'
import type { App } from 'firebase-admin/app'
import { getMessaging } from 'firebase-admin/messaging'
import type { Messaging, TokenMessage } from 'firebase-admin/messaging'

import type { Outcome, Provider, Push } from '#domain/push'
import type { Severity } from '#domain/submission'
import { contentWithin, loudnessOf } from '#src/providers/content'
import { CredentialsError, openCredentials } from '#src/providers/credentials-file'
import type { ProviderEdge } from '#src/providers/edge'
import { Connections } from '#src/providers/http2/connections'
import { accessTokensFor } from './access-tokens.ts'
import type { ServiceAccount } from './access-tokens.ts'
import { outcomeOf } from './answers.ts'
import { carry } from './carrying.ts'
import type { FcmSettings } from './settings.ts'

/** The library's address for messages. */
const GOOGLE = 'https://fcm.googleapis.com'

/** Rejects with a sentence for the operator when the credentials cannot be used. */
export async function openFcm(
  { credentialsFile }: FcmSettings,
  edge: ProviderEdge,
): Promise<Provider> {
  const { runtime, credentialsChanged } = edge
  let apps = 0
  const appOf = (account: ServiceAccount): App => {
    apps += 1
    const { projectId } = account
    const credential = accessTokensFor(account, runtime.nowMs)
    return initializeApp({ credential, projectId }, `heliograph-${apps}`)
  }
  const connections = new Connections(GOOGLE, runtime)
  let app: App
  let messaging: Messaging
  const use = (account: ServiceAccount): void => {
    app = appOf(account)
    messaging = carry(getMessaging(app), connections)
  }
  const file = await openCredentials(
    {
      setting: 'SERVICE_FCM_CREDENTIALS_FILE',
      path: credentialsFile,
      parse: accountFrom,
      changed: (account) => {
        const earlier = app
        use(account)
        void deleteApp(earlier).catch(() => undefined)
        credentialsChanged()
      },
    },
    edge,
  )
  use(file.credentials)
  return {
    name: 'fcm',
    send: async (push): Promise<Outcome> => {
      const { responses } = await messaging.sendEach([messageOf(push, runtime.nowMs())])
      const error = responses[0]?.error
      return error === undefined ? { kind: 'delivered' } : outcomeOf(error, runtime.nowMs())
    },
    close: async () => {
      file.close()
      await connections.destroy()
      await deleteApp(app)
    },
  }
}

/** Parses the JSON key of a service account, in Google's format. */
function accountFrom(text: string): ServiceAccount {
  const expected = 'is not the JSON key of a Google service account'
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new CredentialsError(expected)
  }
  const of = (name: string): string => {
    const value: unknown =
      typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, name) : ''
    if (typeof value === 'string' && value !== '') return value
    throw new CredentialsError(`${expected}: ${name} is missing`)
  }
  const account = {
    projectId: of('project_id'),
    clientEmail: of('client_email'),
    privateKey: of('private_key'),
  }
  try {
    createPrivateKey(account.privateKey)
  } catch {
    throw new CredentialsError(`${expected}: private_key is not a key in PEM`)
  }
  return account
}

// Makes Firebase's message for a push to Android: data alone, so that the app decides what to show.
// (decisions.md 11)

/** Specification: Severity mapping. */
const PRIORITY: Readonly<Record<Severity, 'high' | 'normal'>> = {
  critical: 'high',
  high: 'high',
  normal: 'high',
  low: 'normal',
}

/** Firebase keeps a message for four weeks at most. */
const TTL_MS_MAX = 28 * 86_400_000

const contentFor = contentWithin(({ data }) => data)

/** Returns the whole entry or, if that is too large, a message that makes the app fetch it. */
export function messageOf(push: Push, nowMs: number): TokenMessage {
  const content = contentFor(push)
  const ttl = Math.min(TTL_MS_MAX, Math.max(0, push.expiresAt - nowMs))
  return {
    token: push.route.token,
    data: { ...content.data },
    android: { priority: PRIORITY[loudnessOf(push, content)], ttl: Math.floor(ttl / 1000) * 1000 },
  }
}

// Goal: a provider's answer decides the operation's status, the device's route, and whether the
// dispatcher tries the push again. Each row is one answer. Method: a dispatcher over a real store
// uses the real libraries against stand-ins of both services.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { ApnsRefusal } from '#src/dev/servers/push/apns-server'
import type { FcmRefusal } from '#src/dev/servers/push/fcm-server'
import type { Provider } from '#domain/push'
import { DispatchBench } from '#test/support/dispatch-bench'
import { addPushDevice, deviceId } from '#test/support/push-jobs'
import { apnsBench, appleToken, fcmBench, googleToken } from '#test/support/push-servers'
import { message, opId } from '#test/support/submissions'

interface Ends {
  /** `provider_queued` when the dispatcher would try again until the push expires. */
  readonly status: 'sent' | 'failed' | 'provider_queued'
  readonly route: 'stays' | 'retired'
  readonly tries: 'once' | 'again'
}

const FAILED: Ends = { status: 'failed', route: 'stays', tries: 'once' }
const GONE: Ends = { status: 'failed', route: 'retired', tries: 'once' }
const RETRIED: Ends = { status: 'provider_queued', route: 'stays', tries: 'again' }

const APPLE: readonly (readonly [ApnsRefusal | undefined, Ends])[] = [
  [undefined, { status: 'sent', route: 'stays', tries: 'once' }],
  [{ status: 400, reason: 'BadDeviceToken' }, GONE],
  [{ status: 400, reason: 'DeviceTokenNotForTopic' }, GONE],
  [{ status: 410, reason: 'Unregistered' }, GONE],
  [{ status: 400, reason: 'BadCollapseId' }, FAILED],
  [{ status: 413, reason: 'PayloadTooLarge' }, FAILED],
  [{ status: 429, reason: 'TooManyRequests' }, RETRIED],
  [{ status: 500, reason: 'InternalServerError' }, RETRIED],
  [{ status: 503, reason: 'ServiceUnavailable' }, RETRIED],
  [{ status: 403, reason: 'InvalidProviderToken' }, RETRIED],
]

const GOOGLE: readonly (readonly [FcmRefusal | undefined, Ends])[] = [
  [undefined, { status: 'sent', route: 'stays', tries: 'once' }],
  [{ status: 404, canonical: 'NOT_FOUND', errorCode: 'UNREGISTERED' }, GONE],
  [{ status: 403, canonical: 'PERMISSION_DENIED', errorCode: 'SENDER_ID_MISMATCH' }, GONE],
  [{ status: 400, canonical: 'INVALID_ARGUMENT', errorCode: 'INVALID_ARGUMENT' }, FAILED],
  [{ status: 429, canonical: 'X', errorCode: 'QUOTA_EXCEEDED', retryAfter: '1' }, RETRIED],
  [{ status: 500, canonical: 'INTERNAL', errorCode: 'INTERNAL' }, RETRIED],
  [{ status: 401, canonical: 'UNAUTHENTICATED' }, RETRIED],
]

for (const [refusal, ends] of APPLE) {
  test(`Apple: ${refusal?.reason ?? 'accepted'} → ${ends.status}, token ${ends.route}`, async (t) => {
    const { server, provider } = await apnsBench(t)
    server.refuse = () => refusal
    await check(t, { provider, ends, requests: () => server.requests })
  })
}

for (const [refusal, ends] of GOOGLE) {
  const name = refusal?.errorCode ?? refusal?.canonical ?? 'accepted'
  test.serial(`Google: ${name} → ${ends.status}, token ${ends.route}`, async (t) => {
    const { server, provider } = await fcmBench(t)
    server.refuse = () => refusal
    await check(t, { provider, ends, requests: () => server.requests })
  })
}

interface Checked {
  readonly provider: Provider
  readonly ends: Ends
  readonly requests: () => number
}

async function check(t: ExecutionContext, { provider, ends, requests }: Checked): Promise<void> {
  const bench = await DispatchBench.open(t, 0)
  const { store, writer } = bench
  const token = provider.name === 'apns' ? appleToken(1) : googleToken(1)
  const device = await addPushDevice(store, writer.channelId, 1, provider.name)
  await store.devices.setRoute(device, provider.name, token)
  await writer.take(message({ opId: 'm' })).commit()
  const dispatcher = bench.start('worker', provider)
  const isOver = (): boolean =>
    ends.tries === 'again' ? requests() >= 2 : bench.ended(provider.name) === 1
  await bench.advanceUntil('the push has ended or had a second attempt', isOver, 20)
  await dispatcher.stop()
  const status = (await store.operations.find(opId('m')))?.status
  t.is(status, ends.status)
  const { channelType, providerToken } = (await store.devices.find(deviceId(1))) ?? {}
  t.is(channelType, ends.route === 'retired' ? 'private' : provider.name)
  t.is(providerToken, ends.route === 'retired' ? undefined : token)
  if (ends.tries === 'once') t.is(requests(), 1)
}

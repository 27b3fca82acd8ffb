// The ways in that take the password or key of a channel, each with one request that shows it.

import { isFault } from '#domain/fault'
import { parseChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { withGrant } from '#src/acceptance/caller'
import type { Caller } from '#src/acceptance/caller'
import type { Guard } from '#src/acceptance/caller-check'
import { send } from '#src/compat/sending'
import { thingsBoardStyle } from '#src/compat/thingsboard/style'
import { openTopics } from '#src/compat/topic/channels'
import { MqttClient } from '#test/support/mqtt-client'
import { NOW_MS } from '#test/support/making'
import { ADDRESS, ask } from './site.ts'
import type { Site } from './site.ts'

/** What a caller shows in the place of a channel and its password. */
export interface Shown {
  readonly channel_id?: string
  readonly password?: string
}

/** Makes a request; returns the outcomes of its parts, where it has several. */
export type Way = (
  site: Site,
  shown: Shown,
  isBroken: boolean,
) => Promise<readonly Answer<unknown>[]>

type Call = (site: Site, fields: object, caller: Caller) => unknown

/** A channel that has ended, of an assistant's grant. */
export const ENDED_CHANNEL = '6ZZZZZZZZZZZZZZZZZZZZZZZZW'

const PASSWORDS: Guard = { token: 'required', budget: 'passwords' }

const asAnswer = (outcome: unknown): Answer<object> => (isFault(outcome) ? outcome : {})

/** A call with a form, in which `wrong` stands where the rest is malformed. */
const called =
  (call: Call, wrong: object, guard = PASSWORDS): Way =>
  async (site, shown, isBroken) => {
    const fields = { ...shown, ...(isBroken && wrong) }
    await ask(site, guard, async (caller) => asAnswer(await call(site, fields, caller)))
    return []
  }

const joining = called(
  ({ acceptance, deviceKey }, fields, caller) =>
    acceptance.subscriptions.subscribe({ device_key: deviceKey, ...fields }, caller),
  { device_key: 5 },
)

const synchronising: Way = async (site, shown, isBroken) => {
  const parts: Answer<unknown>[] = []
  const item = isBroken ? { ...shown, channel_id: 5 } : shown
  const fields = { device_key: site.deviceKey, channels: [item, item] }
  await ask(site, PASSWORDS, async (caller) => {
    const outcome = await site.acceptance.subscriptions.synchronise(fields, caller)
    if (!isFault(outcome)) parts.push(...outcome.items.map((one) => one.outcome))
    return asAnswer(outcome)
  })
  return parts
}

const reading = called(
  ({ acceptance, deviceKey: device_key }, { channel_id }: Shown, caller) =>
    acceptance.state.things({ channel_id, device_key }, caller),
  {},
)

const connecting =
  (topic?: string): Way =>
  async ({ door }, { channel_id = '', password = '' }) => {
    const isNamed = channel_id !== ''
    const username = isNamed ? channel_id : password
    const will = topic === undefined ? undefined : { topic, payload: Buffer.from('offline') }
    const sent = { username, password: isNamed ? Buffer.from(password) : undefined, will }
    await MqttClient.enter(door, { address: ADDRESS }, sent)
    return []
  }

/** The key of an imitated tool. */
const keyOf = ({ channel_id, password = '' }: Shown): string =>
  channel_id === undefined ? password : `${channel_id}:${password}`

const MESSAGE = { title: 'a title' }

const sending = called(
  ({ acceptance }, shown, caller) => send(acceptance, keyOf(shown), { message: MESSAGE, caller }),
  {},
)

/** Two keys in one request. */
const sendingAll: Way = async (site, shown) => {
  const parts: Answer<unknown>[] = []
  const { acceptance } = site
  await ask(site, PASSWORDS, async (first) => {
    for (const caller of [first, acceptance.callerCheck.again(first)]) {
      parts.push(await send(acceptance, keyOf(shown), { message: MESSAGE, caller }))
      caller.attempt?.end()
    }
    return {}
  })
  return parts
}

const requestOf = (caller: Caller, parameters: Readonly<Record<string, string>>) => ({
  ...caller,
  requestId: 'r',
  body: Buffer.from('{"a":1}'),
  parameters,
  headers: {},
  query: new URLSearchParams(),
  sentQuery: '',
  acceptLanguage: '',
})

const following = called(
  ({ acceptance }, shown, caller) =>
    openTopics(acceptance, requestOf(caller, { topic: keyOf(shown) })),
  {},
)

const posting = called(
  ({ acceptance }, shown, caller) =>
    thingsBoardStyle(acceptance)[0]?.handle(requestOf(caller, { access_token: keyOf(shown) })),
  {},
  { token: 'none', budget: 'passwords' },
)

/** An assistant that may use the site's channel, and one that has ended. */
function granted(caller: Caller, { channelId }: Site): Caller {
  const ended = parseChannelId(ENDED_CHANNEL)
  if (ended === undefined) throw new Error('bad fixture')
  return withGrant(caller, { channels: new Set([channelId, ended]) })
}

const GUESSES: Guard = { token: 'none', budget: 'guesses' }
const UPDATE = { thing_id: 'pump', observed_at: NOW_MS }

const submitted =
  (model: 'message' | 'thing', more: object): Call =>
  ({ acceptance }, fields, caller) => {
    const intent =
      model === 'thing'
        ? ({ model, action: 'update' } as const)
        : ({ model, action: 'send' } as const)
    return acceptance.submissions.submit(intent, { ...more, ...fields }, caller)
  }

export const WAYS: Readonly<Record<string, Way>> = {
  'a Message': called(submitted('message', MESSAGE), { title: 5 }),
  'a Message with an op_id': called(submitted('message', { ...MESSAGE, op_id: 'client-1' }), {
    title: 5,
  }),
  'an update of a Thing': called(submitted('thing', UPDATE), { thing_id: 5 }),
  'a cancellation': called(
    ({ acceptance }, fields, caller) =>
      acceptance.cancellations.cancel({ op_id: '1'.repeat(45), ...fields }, caller),
    { op_id: 5 },
  ),
  'the list of Things': called(
    ({ acceptance }, fields, caller) => acceptance.state.things(fields, caller),
    { limit: 'x' },
  ),
  'the list of Things by a device that is not subscribed': reading,
  rules: called(({ acceptance }, fields, caller) => acceptance.rules.list(fields, caller), {
    limit: 'x',
  }),
  'what a channel is': called(
    ({ acceptance }, fields, caller) => acceptance.channels.info(fields, caller),
    { password: 5 },
  ),
  'a new name': called(
    ({ acceptance }, fields, caller) =>
      acceptance.channels.rename({ channel_name: 'n', ...fields }, caller),
    { channel_name: 5 },
  ),
  'a new key': called(({ acceptance }, fields, caller) => acceptance.keys.create(fields, caller), {
    label: 5,
  }),
  'mappings that are put': called(
    ({ acceptance }, fields, caller) =>
      acceptance.mappings.use({ mappings: [], ...fields }, caller),
    { mappings: 5 },
  ),
  'a subscription': joining,
  'a list of subscriptions': synchronising,
  CONNECT: connecting(),
  'CONNECT with a will': connecting('things/pump/attrs/online'),
  'the key of an imitated tool': sending,
  'keys of an imitated tool': sendingAll,
  'the topic of a subscriber': following,
  'telemetry of a ThingsBoard device': posting,
  'a page that asks for a password': called(
    ({ acceptance }, fields, caller) => acceptance.proof.prove(fields, caller),
    { password: 5 },
  ),
  'an assistant that reads': called(
    (site, { channel_id }: Shown, caller) =>
      site.acceptance.channels.info({ channel_id }, granted(caller, site)),
    {},
    GUESSES,
  ),
  'an assistant that sends': called(
    (site, { channel_id }: Shown, caller) =>
      submitted('thing', { ...UPDATE, channel_id })(site, {}, granted(caller, site)),
    {},
    GUESSES,
  ),
}

// The members of requests that carry a credential.

import { fault, isFault } from '#domain/fault'
import { parseDeviceKey } from '#domain/identity'
import type { ChannelId, DeviceKey } from '#domain/identity'
import type { Answer } from '#domain/ports'

import { ABSENT, eitherOf, object, requiredText, text } from './json-schema.ts'
import type { ObjectSchema, Properties } from './json-schema.ts'
import { read } from './members.ts'
import { CHANNEL_ID, CHANNEL_ID_CHARACTERS_MAX, DEVICE_KEY_FORM } from './patterns.ts'
import { bytesForm, trimmed } from './patterns.ts'
import { PASSWORD_BYTES_MAX, PASSWORD_BYTES_MIN, invalid, isBlank } from './values.ts'
import { readChannelId, readPassword } from './values.ts'
import type { SentText } from './values.ts'

const CHANNEL_ID_TEXT = {
  ...requiredText(
    'The Channel: 26 Crockford Base32 characters in any case; white space and hyphens are ignored.',
    CHANNEL_ID,
  ),
  maxLength: CHANNEL_ID_CHARACTERS_MAX,
} as const

export const CREDENTIALS = {
  channel_id: read(CHANNEL_ID_TEXT, readChannelId),
  password: read(
    requiredText(
      'The Channel password: 8 to 128 bytes after trimming.',
      trimmed(bytesForm(PASSWORD_BYTES_MIN, PASSWORD_BYTES_MAX)),
    ),
    readPassword,
  ),
} as const

/** A device key of the right form; any other one is not registered. */
function readDeviceKey(sent: string): Answer<DeviceKey> {
  const field = 'device_key'
  const key = sent.trim()
  if (key === '') return fault('validation_failed', { field, detail: 'device_key is required' })
  return parseDeviceKey(key) ?? fault('device_key_not_found', { field })
}

export const DEVICE_KEY = read(
  requiredText('The credential of the device, from /device/register.', trimmed(DEVICE_KEY_FORM)),
  readDeviceKey,
)

/** The right by which somebody reads a Channel. */
export type Reader =
  | { readonly kind: 'password'; readonly channelId: ChannelId; readonly password: string }
  | { readonly kind: 'device'; readonly channelId: ChannelId; readonly deviceKey: DeviceKey }

interface ReaderBody {
  readonly password?: SentText
  readonly device_key?: SentText
}

function readReader(
  sentId: string,
  _field: string,
  { password, device_key: deviceKey }: ReaderBody,
): Answer<Reader> {
  const channelId = readChannelId(sentId)
  if (isFault(channelId)) return channelId
  if (deviceKey === undefined || deviceKey === null || isBlank(deviceKey)) {
    const known = readPassword(password)
    return isFault(known) ? known : { kind: 'password', channelId, password: known }
  }
  if (!isBlank(password)) {
    return invalid('device_key', 'must not be sent together with password')
  }
  const key = readDeviceKey(deviceKey)
  return isFault(key) ? key : { kind: 'device', channelId, deviceKey: key }
}

const READER = {
  channel_id: read(CHANNEL_ID_TEXT, readReader, 'reader'),
  password: text('The Channel password, or a key. Exactly one of password and device_key.'),
  device_key: text('The credential of a device that is subscribed to the Channel.'),
} as const

const READER_CASES = [
  {
    ...object({ password: CREDENTIALS.password, device_key: ABSENT }, ['password']),
    title: 'By password',
  },
  { ...object({ password: ABSENT, device_key: DEVICE_KEY }, ['device_key']), title: 'By device' },
] as const

/** A request of a caller with the password, or of a subscribed device. */
export const readingRequest = <
  const Members extends Properties,
  const Required extends keyof Members & string,
>(
  members: Members,
  required: readonly Required[],
) => eitherOf(object({ ...READER, ...members }, ['channel_id', ...required]), READER_CASES)

/** The same for members of which each case takes some. */
export const readingRequestOf = <
  const Members extends Properties,
  const Required extends keyof Members & string,
>(
  members: Members,
  required: readonly Required[],
  cases: readonly ObjectSchema[],
) => {
  const either = readingRequest(members, required)
  const both = READER_CASES.flatMap((reader) =>
    cases.map((one) => ({
      ...object<Properties, string>({ ...reader.properties, ...one.properties }, [
        ...reader.required,
        ...one.required,
      ]),
      title: `${reader.title}, ${String(one['title'])}`,
    })),
  )
  // The SDK types the body by who reads.
  return { ...either, anyOf: both } as unknown as typeof either
}

// The members of requests that carry a credential.

import { requiredText } from './json-schema.ts'
import { CHANNEL_ID, CHANNEL_ID_CHARACTERS_MAX, DEVICE_KEY_FORM } from './patterns.ts'
import { bytesForm, trimmed } from './patterns.ts'
import { PASSWORD_BYTES_MAX, PASSWORD_BYTES_MIN } from './values.ts'

export const CREDENTIALS = {
  channel_id: {
    ...requiredText(
      'The Channel: 26 Crockford Base32 characters in any case; white space and hyphens are ' +
        'ignored.',
      CHANNEL_ID,
    ),
    maxLength: CHANNEL_ID_CHARACTERS_MAX,
  },
  password: requiredText(
    'The Channel password: 8 to 128 bytes after trimming.',
    trimmed(bytesForm(PASSWORD_BYTES_MIN, PASSWORD_BYTES_MAX)),
  ),
} as const

export const DEVICE_KEY = requiredText(
  'The credential of the device, from /device/register.',
  trimmed(DEVICE_KEY_FORM),
)

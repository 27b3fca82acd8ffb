// Records of one grant, with which the contracts of authorization begin.

import type { AuthorizationRecord, NewBinding } from '#domain/authorization-store'
import { PASSWORD_HASH } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'

export const A = channel(1)
export const B = channel(2)

export const record = (
  name: string,
  more: Partial<AuthorizationRecord> = {},
): AuthorizationRecord => ({
  model: 'RefreshToken',
  idHash: name.padEnd(64, '0'),
  grantId: 'grant-1',
  uid: '',
  payload: JSON.stringify({ name: `${name} 🔑` }),
  consumedAt: 0,
  expiresAt: 1_000,
  ...more,
})

export const holder = {
  grantId: 'grant-1',
  client: 'c'.repeat(64),
  browser: 'browser-1',
  clientName: 'Ein Gehilfe 🔑',
}

export const binding = (channelId = A, more: Partial<NewBinding> = {}): NewBinding => ({
  ...holder,
  channelId,
  passwordHash: PASSWORD_HASH,
  boundAt: 5,
  ...more,
})

export const SECRET = 's'.repeat(64)
export const session = {
  ...holder,
  bindSession: 'b'.repeat(32),
  secretHash: SECRET,
  expiresAt: 1_000,
}
export const use = { channelId: A, passwordHash: PASSWORD_HASH, boundAt: 7 }

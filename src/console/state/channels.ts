// Creating, opening and leaving channels. This browser keeps a key of its own for each, so a person
// can end its access without changing the password; the password is kept only while a tab needs it.

import { signal } from '@preact/signals'

import { browserName } from '#console/people/browser-name.ts'
import { client, codeOf } from './gateway.ts'
import { forgetChannel, keepChannel } from './saved.ts'
import { leave } from './session.ts'

export { browserName } from '#console/people/browser-name.ts'

/** By channel the password that a person entered in this tab. Never stored. */
export const passwords = signal<ReadonlyMap<string, string>>(new Map())

export function rememberPassword(channelId: string, password: string): void {
  passwords.value = new Map([...passwords.value, [channelId, password]])
}

/** The form of a channel id, with the letters that a person may take for others. */
export const channelIdIn = (text: string): string | undefined => {
  const id = text.trim().toUpperCase().replaceAll('-', '')
  return /^[0-9A-Z]{26}$/.test(id) ? id : undefined
}

export async function createChannel(name: string, password: string): Promise<string> {
  const body = { channel_name: name.trim(), password }
  const { channel_id: id, channel_name } = await client.peek().channel.create(body)
  await keepWithKey(id, channel_name, password)
  return id
}

const KEY_FORM = /^[0-9A-Za-z]{43}$/

/** Opens a channel by its password or by a key. Throws what the gateway answers. */
export async function openChannel(channelId: string, secret: string): Promise<void> {
  const proof = { channel_id: channelId, password: secret }
  try {
    const { channel_name } = await client.peek().channel.info(proof)
    if (KEY_FORM.test(secret)) keepChannel({ id: channelId, name: channel_name, secret })
    else await keepWithKey(channelId, channel_name, secret)
  } catch (error) {
    // A key that may only send knows no name.
    if (codeOf(error) !== 'key_scope') throw error
    keepChannel({ id: channelId, name: channelId, secret })
  }
}

/** Keeps the channel with a new key; with the password where the gateway makes none. */
async function keepWithKey(id: string, name: string, password: string): Promise<void> {
  rememberPassword(id, password)
  const secret = await makeKey(id, password, { label: browserName() }).catch(() => password)
  keepChannel({ id, name, secret })
}

export interface KeyWish {
  readonly label: string
  readonly scopes?: readonly ('read' | 'send')[]
  /** Unix milliseconds; without it the key never ends. */
  readonly expiresAt?: number | undefined
}

export async function makeKey(id: string, password: string, wish: KeyWish): Promise<string> {
  const { label, scopes, expiresAt } = wish
  const body = {
    channel_id: id,
    password,
    label,
    ...(scopes && { scopes: [...scopes] }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  }
  const { key } = await client.peek().key.create(body)
  return key
}

/** Makes this browser forget a channel. */
export async function forget(channelId: string): Promise<void> {
  forgetChannel(channelId)
  await leave(channelId)
}

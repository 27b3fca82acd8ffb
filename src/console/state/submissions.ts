// Sends what a person fills in, and words the command that sends the same.

import type { Model } from '#domain/submission'
import { HeliographError } from '#src/client/error'
import { afterDelay, nowMs } from './clock.ts'
import { bodyOf, sentAt } from './drafts.ts'
import type { Draft } from './drafts.ts'
import { BASE_URL, client } from './gateway.ts'
import { readerOf } from './history.ts'
import { token } from './saved.ts'
import { keepScheduled } from './scheduled.ts'

const PATHS = { message: '/message', event: '/event/create', thing: '/thing/update' } as const

/** Sends the draft; gives the id of what it made or changed. A Message that waits is kept. */
export async function submit(channelId: string, model: Model, draft: Draft): Promise<string> {
  const body = { ...readerOf(channelId), ...bodyOf(model, draft, nowMs()) }
  const { message, event, thing } = client.peek()
  if (model === 'message') {
    const sent = await message.send(body as Parameters<typeof message.send>[0])
    if (draft.when !== 'now') {
      const at = sentAt(draft, nowMs())
      keepScheduled({ channelId, opId: sent.op_id, title: draft.title.trim(), at })
    }
    return sent.message_id
  }
  if (model === 'event') {
    return (await event.create(body as Parameters<typeof event.create>[0])).event_id
  }
  return (await thing.update(body as Parameters<typeof thing.update>[0])).thing_id
}

const ASK_AGAIN_MS = 250
const ASKED_MAX = 40

/**
 * Waits for the end of a submission, a while at most: the gateway keeps it in any case. Throws why
 * it failed.
 */
export async function applied(opId: string): Promise<void> {
  for (let asked = 0; asked < ASKED_MAX; asked += 1) {
    const { status, error_code: code } = await client.peek().status(opId)
    if (status === 'failed') {
      const name = code ?? 'failed'
      throw new HeliographError(name, { code: name, status: 409, retryable: false })
    }
    if (status !== 'accepted' && status !== 'processing') return
    await new Promise<void>((resolve) => void afterDelay(ASK_AGAIN_MS, resolve))
  }
}

interface Wish {
  readonly note?: string
  /** A duration; '' for none. */
  readonly snooze?: string
}

/** Acknowledges an Event. Throws what the gateway answers, as that it is closed already. */
export async function acknowledge(
  channelId: string,
  eventId: string,
  { note = '', snooze = '' }: Wish = {},
): Promise<void> {
  const body = {
    ...readerOf(channelId),
    event_id: eventId,
    event_time: nowMs(),
    ...(note.trim() !== '' && { note: note.trim() }),
    ...(snooze !== '' && { snooze }),
  }
  const { op_id } = await client.peek().event.acknowledge(body, { repeat: true })
  await applied(op_id)
}

export const SECRET_NAME = 'HELIOGRAPH_PASSWORD'
export const TOKEN_NAME = 'HELIOGRAPH_TOKEN'

/**
 * The line for a terminal. The secret comes from a variable, as commands stay in a history; but a
 * key that was made for the command stands in it.
 */
export function commandFor(channelId: string, model: Model, draft: Draft, key?: string): string {
  const [time, quote] = ['"$(date +%s)"', "'"]
  const body = { channel_id: channelId, password: key ?? '', ...bodyOf(model, draft, 0) }
  const json = JSON.stringify(body, undefined, 2)
    .replaceAll(quote, `'\\''`)
    .replace('"password": ""', `"password": "'"$${SECRET_NAME}"'"`)
    .replace(/"(event_time|observed_at|occurred_at)": 0/, `"$1": '${time}'`)
  const auth = token.value === '' ? '' : ` \\\n  -H "authorization: Bearer $${TOKEN_NAME}"`
  return `curl ${BASE_URL}${PATHS[model]} -H 'content-type: application/json'${auth} -d '${json}'`
}

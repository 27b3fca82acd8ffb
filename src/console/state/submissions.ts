// What a person fills in, as the body of a request, and as the command that sends the same.

import type { Json } from '#domain/submission'
import { nowMs } from './clock.ts'
import { BASE_URL, client } from './gateway.ts'
import { readerOf } from './history.ts'
import { token } from './saved.ts'

export type Model = 'message' | 'event' | 'thing'

/** The fields of the form, and the values of Things and Events. */
export interface Draft {
  readonly title: string
  readonly body: string
  readonly severity: string
  readonly link: string
  readonly thingId: string
  readonly tags: string
  readonly attrs: Readonly<Record<string, Json>>
}

type Body = Readonly<Record<string, Json>>

const PATHS = { message: '/message', event: '/event/create', thing: '/thing/update' } as const

/** The body without the channel and its secret; blank fields are left out. */
export function bodyOf(model: Model, draft: Draft, atMs: number): Body {
  const { title, body, severity, link, thingId, tags, attrs } = draft
  const words = tags.split(',').map((tag) => tag.trim())
  const filled: Record<string, Json> = {
    title: title.trim(),
    ...(words.some(Boolean) && { tags: words.filter(Boolean) }),
    thing_id: thingId.trim(),
  }
  if (model === 'message') {
    Object.assign(filled, { body, severity, url: link.trim() })
    if (thingId.trim() !== '') filled['occurred_at'] = atMs
  } else if (model === 'event') {
    Object.assign(filled, { message: body, severity, event_time: atMs, attrs })
  } else Object.assign(filled, { description: body, observed_at: atMs, attrs })
  const isGiven = (value: Json): boolean =>
    value !== '' &&
    !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  return Object.fromEntries(Object.entries(filled).filter(([, value]) => isGiven(value)))
}

/** Sends the draft; gives the id of what it made or changed. */
export async function submit(channelId: string, model: Model, draft: Draft): Promise<string> {
  const body = { ...readerOf(channelId), ...bodyOf(model, draft, nowMs()) }
  const { message, event, thing } = client.peek()
  if (model === 'message') {
    return (await message.send(body as Parameters<typeof message.send>[0])).message_id
  }
  if (model === 'event') {
    return (await event.create(body as Parameters<typeof event.create>[0])).event_id
  }
  return (await thing.update(body as Parameters<typeof thing.update>[0])).thing_id
}

export const SECRET_NAME = 'HELIOGRAPH_PASSWORD'

/** The line for a terminal. The secret comes from a variable: commands stay in a history. */
export function commandFor(channelId: string, model: Model, draft: Draft): string {
  const [time, quote] = ['"$(date +%s)"', "'"]
  const body = { channel_id: channelId, password: '', ...bodyOf(model, draft, 0) }
  const json = JSON.stringify(body, undefined, 2)
    .replaceAll(quote, `'\\''`)
    .replace('"password": ""', `"password": "'"$${SECRET_NAME}"'"`)
    .replace(/"(event_time|observed_at|occurred_at)": 0/, `"$1": '${time}'`)
  const auth = token.value === '' ? '' : ` \\\n  -H "authorization: Bearer $HELIOGRAPH_TOKEN"`
  return `curl ${BASE_URL}${PATHS[model]} -H 'content-type: application/json'${auth} -d '${json}'`
}

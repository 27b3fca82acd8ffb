// The forms in which subscribers of the topic style get messages.

/** An object that the tool sends: a message, or news of the stream itself. */
export type StreamItem = Readonly<Record<string, unknown>> & {
  readonly event: string
  readonly message?: string
}

/** Writes objects in one form. */
export interface Form {
  readonly contentType: string
  /** The description of the answer in the OpenAPI document. */
  readonly description: string
  readonly write: (item: StreamItem) => string
  /** Its frames hold one object each. */
  readonly isFramed?: true
}

/** By the last part of the path. */
export const FORMS: Readonly<Record<'json' | 'sse' | 'raw' | 'ws', Form>> = {
  json: {
    contentType: 'application/x-ndjson; charset=utf-8',
    description: 'A message in JSON on each line.',
    write: (item) => `${JSON.stringify(item)}\n`,
  },
  sse: {
    contentType: 'text/event-stream; charset=utf-8',
    description: 'An event for each message, which is its data in JSON.',
    write: (item) => {
      const event = item.event === 'message' ? '' : `event: ${item.event}\n`
      return `${event}data: ${JSON.stringify(item)}\n\n`
    },
  },
  raw: {
    contentType: 'text/plain; charset=utf-8',
    description: 'The text of a message on each line.',
    write: (item) => `${(item.message ?? '').replace(/[\r\n]+/g, ' ')}\n`,
  },
  // Pings show that the connection lives, so this form leaves keepalives out.
  ws: {
    contentType: 'application/json',
    description: 'A message in JSON in each frame.',
    write: (item) => (item.event === 'keepalive' ? '' : JSON.stringify(item)),
    isFramed: true,
  },
}

/** The text of some objects: one for all of them, or one for each frame. */
export function chunksOf(form: Form, items: readonly StreamItem[]): readonly string[] {
  const texts = items.map(form.write).filter((text) => text !== '')
  if (form.isFramed === true || texts.length === 0) return texts
  return [texts.join('')]
}

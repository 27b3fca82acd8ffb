// The forms in which subscribers of the topic style are told what comes.

/** An object as the tool tells it. */
export type Told = Readonly<Record<string, unknown>> & {
  readonly event: string
  readonly message?: string
}

/** How one form writes what it tells. */
export interface Form {
  readonly contentType: string
  readonly write: (told: Told) => string
  /** Its frames hold one object each. */
  readonly isFramed?: true
}

/** By the last part of the path. */
export const FORMS: Readonly<Record<'json' | 'sse' | 'raw' | 'ws', Form>> = {
  json: {
    contentType: 'application/x-ndjson; charset=utf-8',
    write: (told) => `${JSON.stringify(told)}\n`,
  },
  sse: {
    contentType: 'text/event-stream; charset=utf-8',
    write: (told) => {
      const event = told.event === 'message' ? '' : `event: ${told.event}\n`
      return `${event}data: ${JSON.stringify(told)}\n\n`
    },
  },
  raw: {
    contentType: 'text/plain; charset=utf-8',
    write: (told) => `${(told.message ?? '').replace(/[\r\n]+/g, ' ')}\n`,
  },
  // Pings show that the connection lives: it tells no keepalive.
  ws: {
    contentType: 'application/json',
    write: (told) => (told.event === 'keepalive' ? '' : JSON.stringify(told)),
    isFramed: true,
  },
}

/** What is written of some objects: one text, or one for each frame. */
export function chunksOf(form: Form, told: readonly Told[]): readonly string[] {
  const texts = told.map(form.write).filter((text) => text !== '')
  if (form.isFramed === true || texts.length === 0) return texts
  return [texts.join('')]
}

// The row of a scrape: the numbers of a channel's Things as OpenMetrics text.

import { isFault } from '#domain/fault'
import { UNSAFE_RULE, isSafeText } from '#domain/record'
import type { Acceptance } from '#src/acceptance/acceptance'
import { PREFIX } from '#src/schemas/key-routes'
import { BYTES, object, text, texts } from '#src/schemas/json-schema'
import { read } from '#src/schemas/members'
import { KEYED } from '#src/schemas/route'
import { invalid, readParsed } from '#src/schemas/values'
import { PREFIX_FORM, trimmedOrBlank } from '#src/schemas/patterns'
import { DOCUMENT } from './answerer.ts'
import { QUERY, queryReader } from './reader.ts'
import type { Request } from './request.ts'
import { get } from './row.ts'
import type { Row } from './row.ts'

const OPENMETRICS = 'application/openmetrics-text'
const KEY_HEADER = 'x-channel-key'
const BEARER = /^bearer +(\S+)$/i

const PARAMETERS = object(
  {
    prefix: read(
      text('Only Things whose id begins with it.', trimmedOrBlank(PREFIX_FORM)),
      (sent, field) => readParsed(field, sent, PREFIX) ?? '',
    ),
    attr: read(
      { ...texts('Only this attr; may be repeated.'), examples: [['temperature']] },
      (sent, field) => {
        const names = (sent ?? []).filter((name) => name !== '')
        return names.every(isSafeText) ? names : invalid(field, UNSAFE_RULE)
      },
      'attrs',
    ),
  },
  [],
)
const readParameters = queryReader(PARAMETERS)

export const channelMetricsRow = ({ scrapes }: Acceptance): Row =>
  get('/channel/metrics', {
    credentials: 'header',
    headers: [KEY_HEADER, 'authorization'],
    reader: QUERY,
    handle: async (request) => {
      const wish = readParameters(request.query)
      if (isFault(wish)) return wish
      const body = await scrapes.metrics({ key: keyIn(request), ...wish }, request)
      if (isFault(body)) return body
      return { contentType: `${OPENMETRICS}; version=1.0.0; charset=utf-8`, body }
    },
    answerer: DOCUMENT,
    about: {
      tag: 'Reading',
      summary:
        'Read the numbers of the Things of a Channel as OpenMetrics text, by a key as bearer ' +
        'token or in X-Channel-Key',
      operation: 'getChannelMetrics',
      query: PARAMETERS,
      headers: object(
        { [KEY_HEADER]: text('The key, where the Authorization header has the gateway token.') },
        [],
      ),
      raw: { mediaType: OPENMETRICS, schema: BYTES },
      codes: [...KEYED, 'validation_failed', 'series_limit_exceeded', 'rate_limited'],
    },
  })

/** Whoever proved the gateway token has that in the Authorization header. */
function keyIn({ headers, isCounted }: Request): string {
  const { [KEY_HEADER]: key = '', authorization = '' } = headers
  if (key.trim() !== '' || isCounted === false) return key.trim()
  return BEARER.exec(authorization)?.[1] ?? ''
}

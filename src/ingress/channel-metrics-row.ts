// The row of a scrape: the numbers of a channel's Things as OpenMetrics text.

import { isFault } from '#domain/fault'
import type { Acceptance } from '#src/acceptance/acceptance'
import { object, text } from '#src/schemas/json-schema'
import { KEYED } from '#src/schemas/route'
import { PREFIX_FORM, trimmedOrBlank } from '#src/schemas/patterns'
import { DOCUMENT } from './answerer.ts'
import { QUERY } from './reader.ts'
import type { Request } from './request.ts'
import { get } from './row.ts'
import type { Row } from './row.ts'

const OPENMETRICS = 'application/openmetrics-text'
const KEY_HEADER = 'x-channel-key'
const BEARER = /^bearer +(\S+)$/i

export const channelMetricsRow = ({ scrapes }: Acceptance): Row =>
  get('/channel/metrics', {
    credentials: 'header',
    headers: [KEY_HEADER, 'authorization'],
    reader: QUERY,
    handle: async (request) => {
      const { query } = request
      const scrape = {
        key: keyIn(request),
        prefix: query.get('prefix')?.trim() ?? '',
        attrs: query.getAll('attr').filter((attr) => attr !== ''),
      }
      const body = await scrapes.metrics(scrape, request)
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
      query: object(
        {
          prefix: text('Only Things whose id begins with it.', trimmedOrBlank(PREFIX_FORM)),
          attr: text('Only this attr; may be repeated.'),
        },
        [],
      ),
      headers: object(
        { [KEY_HEADER]: text('The key, where the Authorization header has the gateway token.') },
        [],
      ),
      raw: { mediaType: OPENMETRICS, schema: { type: 'string' } },
      codes: [...KEYED, 'series_limit_exceeded', 'rate_limited'],
    },
  })

/** Whoever proved the gateway token has that in the Authorization header. */
function keyIn({ headers, isCounted }: Request): string {
  const { [KEY_HEADER]: key = '', authorization = '' } = headers
  if (key.trim() !== '' || isCounted === false) return key.trim()
  return BEARER.exec(authorization)?.[1] ?? ''
}

// Requests that pass every check, and one whose body is too large.

import { CREDENTIALS, NOW_MS } from '#test/support/making'

export const TOKEN = 'the-gateway-token'

export const THING = { ...CREDENTIALS, thing_id: 't', observed_at: NOW_MS }

export const JSON_HEADERS = { 'content-type': 'application/json' }

export const HUGE = JSON.stringify({ ...THING, padding: 'x'.repeat(40_000) })

// The console's files as rows, and the first page of a browser. (decisions.md 17)
//
// Invariants:
//   console-rows/1. The page runs no script but its own files, sends requests to this gateway
//                   alone, and stands in no frame. Text becomes markup in no way: Trusted Types
//                   refuse it. Its worker alone may send elsewhere: actions that a person chooses.
//   console-rows/2. Whoever asks for `/` without being a browser needs the gateway token, as
//                   without a console.

import type { Fault } from '#domain/fault'
import { isFault } from '#domain/fault'
import type { Header, Reply } from '#src/http/reply'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Answerer } from './answerer.ts'
import { failure, success } from './answerer.ts'
import { get } from './row.ts'
import type { About, Row } from './row.ts'
import { staticRows } from './static-files.ts'
import type { StaticFile } from './static-files.ts'

const CONSOLE_PATH = '/console/'

/** The policy of a file whose scripts may connect to these sources. (console-rows/1) */
const policy = (sources: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${sources}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types heliograph',
  ].join('; ')

const WORKER = 'service-worker.js'

const headersOf = (name: string): readonly Header[] => [
  ['content-security-policy', policy(name === WORKER ? "'self' https: http:" : "'self'")],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['x-frame-options', 'DENY'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
]

/** A row for each file of the console, and one that leads to it from the path without a slash. */
export const consoleRows = (files: readonly StaticFile[]): readonly Row[] => [
  ...staticRows(files, { path: CONSOLE_PATH, headersOf }),
  get(CONSOLE_PATH.slice(0, -1), {
    token: 'none',
    answerer: LEADING,
    handle: () => ({ location: `.${CONSOLE_PATH}` }),
  }),
]

type Led = { readonly location: string } | { readonly data: object }

/** Leads to another page, or answers with the envelope. */
const LEADING: Answerer<Led> = {
  isLocalised: true,
  success: (led) => ('data' in led ? varied(success(led.data)) : redirection(led.location)),
  failure: (fault: Fault, request) => varied(failure(fault, request)),
}

const VARY: Header = ['vary', 'accept']
const varied = (reply: Reply): Reply => ({ ...reply, headers: [...reply.headers, VARY] })

/** The address is relative: a proxy may serve the gateway below a path of its own. */
const redirection = (location: string): Reply =>
  varied({ status: 302, contentType: undefined, headers: [['location', location]], body: '' })

interface FrontPorts {
  readonly callerCheck: Pick<Acceptance['callerCheck'], 'admit'>
  /** What a program gets. */
  readonly about: About
  readonly data: () => object
}

/** The row of `/` of a gateway with a console: a browser is led there. */
export const frontRow = ({ callerCheck, about, data }: FrontPorts): Row =>
  get('/', {
    token: 'handler',
    headers: ['accept', 'authorization'],
    answerer: LEADING,
    about: { ...about, codes: ['authentication_failed', 'rate_limited'] },
    handle: ({ headers, origin, requestId }) => {
      if (/\btext\/html\b/.test(headers['accept'] ?? '')) return { location: `.${CONSOLE_PATH}` }
      const peer = { address: origin?.address ?? '', requestId }
      const guard = { token: 'required', budget: 'none' } as const
      // console-rows/2
      const admitted = callerCheck.admit(guard, peer, headers['authorization'] ?? '')
      return isFault(admitted) ? admitted : { data: data() }
    },
  })

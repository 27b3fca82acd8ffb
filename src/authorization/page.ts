// Pages for people: plain HTML that needs no script and loads nothing.
//
// Invariants:
//   page/1. Whatever a stranger wrote stands on a page as text. No other site can frame a page, and
//           its forms go to this gateway and, after consent, to the client's address alone.

import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

import { LOOK } from './look.ts'

export const HTML_TYPE = 'text/html; charset=utf-8'

export interface PageParts {
  readonly status: number
  readonly locale: string
  readonly title: string
  /** HTML. */
  readonly body: string
  /** A further target of forms, beside this gateway: an origin, or a scheme with its colon. */
  readonly formTarget?: string
}

const STYLE = `${LOOK}
main {
  max-width: 36rem;
  margin: 2rem auto;
  padding: 1rem 1.5rem 1.5rem;
  border: 1px solid var(--edge);
  border-radius: 12px;
  background: var(--sheet);
}
label {
  display: block;
  margin: 1rem 0 0.25rem;
  font-weight: 600;
}
input {
  width: 100%;
}
input[type='radio'] {
  margin: 0 0.6rem 0 0;
  vertical-align: middle;
}
ul {
  padding-left: 1.5rem;
}
li {
  overflow-wrap: anywhere;
}
button {
  margin: 1.25rem 0.75rem 0 0;
  padding-inline: 1.25rem;
}
.refusal {
  padding: 0.5rem 1rem;
  border: 1px solid var(--grave);
  border-left-width: 4px;
  border-radius: var(--radius);
  color: var(--grave);
}
@media (max-width: 40rem) {
  main {
    margin: 0;
    border: 0;
    border-radius: 0;
  }
}
`
const STYLE_HASH = `'sha256-${hash('sha256', STYLE, 'base64')}'`

/** The text escaped for HTML, also for attributes. (page/1) */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Writes a page. */
export function writePage(response: ServerResponse, parts: PageParts): void {
  response.writeHead(parts.status, {
    'content-type': HTML_TYPE,
    'cache-control': 'no-store',
    ...pageHeaders(parts),
  })
  response.end(pageHtml(parts))
}

/** The whole page. */
export const pageHtml = ({ locale, title, body }: PageParts): string =>
  `<!doctype html><html lang="${escaped(locale)}"><head><meta charset="utf-8">` +
  '<meta name="viewport" content="width=device-width, initial-scale=1">' +
  `<title>${escaped(title)}</title><style>${STYLE}</style></head>` +
  `<body><main><h1>${escaped(title)}</h1>${body}</main></body></html>`

/** The headers that keep a page to itself, and tell its language. */
export const pageHeaders = ({
  locale,
  formTarget = '',
}: Pick<PageParts, 'locale' | 'formTarget'>): Readonly<Record<string, string>> => ({
  'content-language': locale,
  'content-security-policy':
    `default-src 'none'; style-src ${STYLE_HASH}; base-uri 'none'; ` +
    `form-action 'self' ${formTarget}; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  // The browser sends the origin with forms, and tells no other site the address of a page.
  'referrer-policy': 'same-origin',
})

/** A paragraph of text. */
export const paragraph = (text: string): string => `<p>${escaped(text)}</p>`

/** The sentence of a refusal, which screen readers announce. */
export const refusalLine = (text: string | undefined): string =>
  text === undefined ? '' : `<p class="refusal" role="alert">${escaped(text)}</p>`

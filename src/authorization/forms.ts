// The forms of the pages: only this gateway's own pages may send them.
//
// Invariants:
//   forms/1. A form is read only with the token that fits the cookie of the browser that has the
//            page, and never when the browser says that it comes from another origin.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

import type { Runtime } from '#domain/runtime'
import { cookieNames, strictCookie } from './cookies.ts'
import type { CookieNames } from './cookies.ts'

interface FormOptions {
  readonly baseUrl: string
  readonly entropy: Runtime['entropy']
  /** Secrets of tokens: the first one makes them, each of them may prove them. */
  readonly keys: () => readonly string[]
}

const FIELD = 'form_token'
const VALUE = /^[A-Za-z0-9_-]{32}$/

export class Forms {
  readonly #options: FormOptions
  readonly #names: CookieNames

  constructor(options: FormOptions) {
    this.#options = options
    this.#names = cookieNames(options.baseUrl)
  }

  /** The hidden field of a form; gives the browser its cookie where it has none. */
  field(request: IncomingMessage, response: ServerResponse): string {
    const { entropy, keys } = this.#options
    let value = this.#cookieOf(request)
    if (value === undefined) {
      value = entropy(24).toString('base64url')
      response.appendHeader('set-cookie', strictCookie(this.#names, this.#names.form, value))
    }
    return `<input type="hidden" name="${FIELD}" value="${macOf(value, keys()[0] ?? '')}">`
  }

  /** The fields of a form; undefined for one that is not of a page of this browser. (forms/1) */
  async read(request: IncomingMessage): Promise<URLSearchParams | undefined> {
    const { origin } = request.headers
    const type = request.headers['content-type'] ?? ''
    const fields = new URLSearchParams(await text(request))
    if (!type.startsWith('application/x-www-form-urlencoded')) return undefined
    if (origin !== undefined && origin !== new URL(this.#options.baseUrl).origin) return undefined
    const value = this.#cookieOf(request)
    const token = fields.get(FIELD) ?? ''
    if (value === undefined) return undefined
    return this.#options.keys().some((key) => isEqual(token, macOf(value, key)))
      ? fields
      : undefined
  }

  #cookieOf({ headers }: IncomingMessage): string | undefined {
    const parts = (headers.cookie ?? '').split(';').map((part) => part.trim().split('='))
    const value = parts.find(([name]) => name === this.#names.form)?.[1]
    return value !== undefined && VALUE.test(value) ? value : undefined
  }
}

const macOf = (value: string, key: string): string =>
  createHmac('sha256', key).update(`form ${value}`).digest('base64url')

/** Compares secrets in a time that shows nothing of them but a difference in length. */
export function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

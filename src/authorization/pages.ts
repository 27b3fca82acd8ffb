// The pages on which people let assistants use their channels, and end that again.
//
//   /oauth/bind/…        consent and a first channel, for a client that asks for a grant
//   /oauth/session/…     one more channel, on an address that a tool gave to the assistant
//   /oauth/assistants    the assistants that may use a channel
//
// Invariants:
//   pages/1. Every password counts in the password budget before it is compared.
//   pages/2. An assistant whose use of a channel a person ends loses it in all its grants.

import type { IncomingMessage, ServerResponse } from 'node:http'

import type { BindingStore, BoundAssistant } from '#domain/authorization-store'
import type { ChannelCredentials } from '#domain/channel'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Acceptance } from '#src/acceptance/acceptance'
import { localeOf, sentenceOf } from '#src/refusals/localise'
import { STATUS, failureHeaders } from '#src/refusals/refusal'
import type { Forms } from './forms.ts'
import { escaped, paragraph, refusalLine, writePage } from './page.ts'
import type { PageParts } from './page.ts'
import { filled, wordsIn } from './words.ts'
import type { Words } from './words.ts'

export interface PagePorts {
  readonly acceptance: Pick<Acceptance, 'callerCheck' | 'proof'>
  readonly bindings: BindingStore
  readonly forms: Forms
  readonly runtime: Pick<Runtime, 'nowMs' | 'entropy'>
}

/** One request for a page, with the parts that every page needs. */
export class Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly locale: ReturnType<typeof localeOf>
  readonly words: Words
  readonly ports: PagePorts

  constructor(ports: PagePorts, request: IncomingMessage, response: ServerResponse) {
    this.ports = ports
    this.request = request
    this.response = response
    this.locale = localeOf(request.headers['accept-language'] ?? '')
    this.words = wordsIn(this.locale)
  }

  get isPost(): boolean {
    return this.request.method === 'POST'
  }

  write(parts: Omit<PageParts, 'locale'>): void {
    writePage(this.response, { ...parts, locale: this.locale })
  }

  /** A page of one sentence. */
  say(status: number, title: string, sentence: string): void {
    this.write({ status, title, body: paragraph(sentence) })
  }

  sentenceOf({ code }: Fault): string {
    return sentenceOf(code, this.locale)
  }

  /** The fields of the form that was sent; without them the page is written. */
  async form(): Promise<URLSearchParams | undefined> {
    const fields = await this.ports.forms.read(this.request)
    if (fields === undefined) this.say(403, this.words.errorTitle, this.words.foreign)
    return fields
  }

  /** Proof of a channel's password, counted before it is compared. (pages/1) */
  async prove(fields: URLSearchParams): Promise<Answer<ChannelCredentials>> {
    const { callerCheck, proof } = this.ports.acceptance
    const address = this.request.socket.remoteAddress ?? 'unknown'
    const admitted = callerCheck.admit({ token: 'none', budget: 'passwords' }, { address }, '')
    if (isFault(admitted)) return admitted
    const sent = {
      channel_id: fields.get('channel_id') ?? '',
      password: fields.get('password') ?? '',
    }
    return proof.prove(sent, { receivedAtMs: this.ports.runtime.nowMs() })
  }

  /** The status of a refusal, with the headers that go with it. */
  statusOf(refusal: Fault): number {
    for (const [name, value] of failureHeaders(refusal)) this.response.setHeader(name, value)
    return STATUS[refusal.code]
  }

  /** The fields for a channel and its password, in a form that goes to this same page. */
  channelForm(buttons: string, channelId = ''): string {
    const { words, ports, request, response } = this
    return (
      `<form method="post" autocomplete="off">${ports.forms.field(request, response)}` +
      `<label for="channel">${escaped(words.channelId)}</label>` +
      `<input id="channel" name="channel_id" value="${escaped(channelId)}" maxlength="256">` +
      `<label for="password">${escaped(words.password)}</label>` +
      '<input id="password" name="password" type="password" autocomplete="off" maxlength="256">' +
      `${paragraph(words.passwordStays)}${buttons}</form>`
    )
  }
}

export const button = (text: string, decision: string): string =>
  `<button name="decision" value="${decision}">${escaped(text)}</button>`

/** The page of a bind session. */
export async function sessionPage(visit: Visit, secretHash: string): Promise<void> {
  const { ports, words } = visit
  const session = await ports.bindings.session(secretHash, ports.runtime.nowMs())
  if (session === undefined) return visit.say(404, words.expiredTitle, words.expired)
  if (session.state === 'used') return visit.say(410, words.usedTitle, words.used)
  if (session.state === 'expired') return visit.say(410, words.expiredTitle, words.expired)
  const ask = (status: number, refusal?: string, channelId?: string): void => {
    const asks = words.asks.replace('{client}', () => session.clientName)
    const form = visit.channelForm(button(words.bind, 'bind'), channelId)
    const body = refusalLine(refusal) + paragraph(asks) + paragraph(words.unverified) + form
    visit.write({ status, title: words.title, body })
  }
  if (!visit.isPost) return ask(200)
  const fields = await visit.form()
  if (fields === undefined) return
  const channelId = fields.get('channel_id') ?? ''
  const proved = await visit.prove(fields)
  if (isFault(proved)) return ask(visit.statusOf(proved), visit.sentenceOf(proved), channelId)
  const boundAt = ports.runtime.nowMs()
  const { channelId: bound, passwordHash } = proved
  const outcome = await ports.bindings.useSession(secretHash, {
    channelId: bound,
    passwordHash,
    boundAt,
  })
  if (outcome === 'bound') return visit.say(200, words.boundTitle, words.bound)
  if (outcome === 'full') return ask(409, words.full, channelId)
  if (outcome === 'no-session') return visit.say(410, words.usedTitle, words.used)
  ports.acceptance.proof.forget(proved.channelId)
  const unknown = fault('channel_not_found')
  return ask(visit.statusOf(unknown), visit.sentenceOf(unknown), channelId)
}

/** The page of the assistants of a channel. */
export async function assistantsPage(visit: Visit): Promise<void> {
  const { ports, words } = visit
  const write = (status: number, found: string): void => {
    const form = visit.channelForm(button(words.show, 'show'))
    visit.write({
      status,
      title: words.assistantsTitle,
      body: paragraph(words.assistants) + found + form,
    })
  }
  if (!visit.isPost) return write(200, '')
  const fields = await visit.form()
  if (fields === undefined) return
  const proved = await visit.prove(fields)
  if (isFault(proved)) return write(visit.statusOf(proved), refusalLine(visit.sentenceOf(proved)))
  const { channelId } = proved
  const isEnding = fields.get('decision') === 'revoke'
  const hasEnded =
    isEnding && (await ports.bindings.endUse(channelId, fields.get('assistant') ?? '')) // pages/2
  const said = hasEnded ? paragraph(words.revoked) : ''
  const bound = await ports.bindings.ofChannel(channelId)
  if (bound.length === 0) return write(200, said + paragraph(words.none))
  // A page keeps no password, so the person enters it again to end a binding.
  const choices = bound.map((one, at) => choice(words, one, `assistant-${at}`)).join('')
  const form = visit.channelForm(choices + button(words.revoke, 'revoke'), channelId)
  visit.write({ status: 200, title: words.assistantsTitle, body: said + form })
}

function choice(
  words: Words,
  { client, clientName, boundAt, grants }: BoundAssistant,
  id: string,
): string {
  // With the minute: two assistants of one name may have been let in on one day.
  const date = `${new Date(boundAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const times = grants > 1 ? [filled(words.times, { count: String(grants) })] : []
  const line = [clientName, filled(words.since, { date }), ...times].join(', ')
  return (
    `<label for="${id}"><input type="radio" id="${id}" name="assistant" ` +
    `value="${escaped(client)}">${escaped(line)}</label>`
  )
}

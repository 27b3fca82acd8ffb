// One request for a page, with the parts that every page needs.
//
// Invariants:
//   visit/1. Every password counts in the password budget before it is compared. Where pages ask
//            for the gateway token, that is compared first, and a wrong one counts instead.

import type { IncomingMessage, ServerResponse } from 'node:http'

import type { AssistantPages } from '#domain/assistants'
import type { BindingStore } from '#domain/authorization-store'
import type { ChannelCredentials } from '#domain/channel'
import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'
import type { Acceptance } from '#src/acceptance/acceptance'
import { localeOf, sentenceOf } from '#src/refusals/localise'
import { STATUS, failureHeaders } from '#src/refusals/refusal'
import { isCommonPassword } from '#src/passwords/common-passwords'
import { asking } from './asking.ts'
import type { Forms } from './forms.ts'
import { escaped, paragraph, writePage } from './page.ts'
import type { PageParts } from './page.ts'
import { wordsIn } from './words.ts'
import type { Words } from './words.ts'

interface PagePorts {
  readonly acceptance: Pick<Acceptance, 'callerCheck' | 'proof'>
  readonly bindings: BindingStore
  readonly forms: Forms
  readonly logger: Logger
  readonly runtime: Pick<Runtime, 'nowMs' | 'entropy'>
  /** The credentials that the forms ask for, beside a channel. */
  readonly pages: AssistantPages
}

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

  /** Tells the operator what a person did. */
  note(fact: string, ids: Readonly<Record<string, string | number>>): void {
    this.ports.logger.info(fact, { ...asking(), ...ids })
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

  /** Proof of a channel's password. (visit/1) */
  async prove(fields: URLSearchParams): Promise<Answer<ChannelCredentials>> {
    const { acceptance, pages, runtime } = this.ports
    const { callerCheck, proof } = acceptance
    const guard = { token: pages === 'token' ? 'required' : 'none', budget: 'passwords' } as const
    const token = fields.get('gateway_token')?.trim() ?? ''
    const admitted = callerCheck.admit(guard, asking(), '', token)
    if (isFault(admitted)) return admitted
    const sent = {
      channel_id: fields.get('channel_id') ?? '',
      password: fields.get('password') ?? '',
    }
    const proved = await proof.prove(sent, { receivedAtMs: runtime.nowMs(), ...admitted })
    return isFault(proved) ? (admitted.attempt?.end() ?? proved) : proved
  }

  /** A sentence about a proved password that strangers try first; empty for any other. */
  async warningOf(fields: URLSearchParams): Promise<string> {
    const isCommon = await isCommonPassword(fields.get('password') ?? '')
    return isCommon ? ` ${this.words.commonPassword}` : ''
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
      (ports.pages === 'token' ? secret('token', 'gateway_token', words.gatewayToken, 4096) : '') +
      `<label for="channel">${escaped(words.channelId)}</label>` +
      `<input id="channel" name="channel_id" value="${escaped(channelId)}" maxlength="256">` +
      secret('password', 'password', words.password, 256) +
      `${paragraph(words.passwordStays)}${buttons}</form>`
    )
  }
}

/** A field for a secret: neither a page nor the browser keeps what a person enters. */
const secret = (id: string, name: string, label: string, charactersMax: number): string =>
  `<label for="${id}">${escaped(label)}</label>` +
  `<input id="${id}" name="${name}" type="password" autocomplete="off" ` +
  `maxlength="${charactersMax}">`

export const button = (text: string, decision: string): string =>
  `<button name="decision" value="${decision}">${escaped(text)}</button>`

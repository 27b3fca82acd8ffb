// The pages on which people let assistants use their channels, and end that again.
//
//   /oauth/bind/…        consent and a first channel, for a client that asks for a grant
//   /oauth/session/…     one more channel, on an address that a tool gave to the assistant
//   /oauth/assistants    the assistants that may use a channel
//   /oauth/sign-out      the end of what this browser is known for
//
// Invariants:
//   pages/1. An assistant whose use of a channel a person ends loses it in all its grants.

import type { BoundAssistant } from '#domain/authorization-store'
import { fault, isFault } from '#domain/fault'
import { escaped, paragraph, refusalLine } from './page.ts'
import { button } from './visit.ts'
import type { Visit } from './visit.ts'
import { filled } from './words.ts'
import type { Words } from './words.ts'

/** The page of a bind session. */
export async function sessionPage(visit: Visit, secretHash: string): Promise<void> {
  const { ports, words } = visit
  const session = await ports.bindings.session(secretHash, ports.runtime.nowMs())
  if (session === undefined) return visit.say(404, words.expiredTitle, words.expired)
  if (session.state === 'used') return visit.say(410, words.usedTitle, words.used)
  if (session.state === 'expired') return visit.say(410, words.expiredTitle, words.expired)
  const ask = (status: number, refusal?: string, channelId?: string): void => {
    const asks = filled(words.asks, { client: session.clientName })
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
  if (outcome === 'bound') {
    const { grantId } = session
    visit.note('a channel was bound to an assistant', { grantId, channelId: bound })
    return visit.say(200, words.boundTitle, words.bound + (await visit.warningOf(fields)))
  }
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
      body: paragraph(words.assistants) + found + form + signOutButton(words),
    })
  }
  if (!visit.isPost) return write(200, '')
  const fields = await visit.form()
  if (fields === undefined) return
  const proved = await visit.prove(fields)
  if (isFault(proved)) return write(visit.statusOf(proved), refusalLine(visit.sentenceOf(proved)))
  const { channelId } = proved
  const isEnding = fields.get('decision') === 'revoke'
  const client = fields.get('assistant') ?? ''
  const hasEnded = isEnding && (await ports.bindings.endUse(channelId, client)) // pages/1
  if (hasEnded) visit.note('an assistant lost a channel', { client, channelId })
  const said = hasEnded ? paragraph(words.revoked) : ''
  const bound = await ports.bindings.ofChannel(channelId)
  if (bound.length === 0) return write(200, said + paragraph(words.none))
  // A page keeps no password, so the person enters it again to end a binding.
  const choices = bound.map((one, at) => choice(words, one, `assistant-${at}`)).join('')
  const form = visit.channelForm(choices + button(words.revoke, 'revoke'), channelId)
  visit.write({ status: 200, title: words.assistantsTitle, body: said + form })
}

/** Leads to the page that signs out; a form, for pages have no links. */
const signOutButton = (words: Words): string =>
  `<form action="/oauth/sign-out"><button>${escaped(words.signOutTitle)}</button></form>`

/** The page that makes the gateway forget the browser. `forget` removes what it keeps of it. */
export async function signOutPage(visit: Visit, forget: () => Promise<void>): Promise<void> {
  const { words } = visit
  if (visit.isPost) {
    if ((await visit.form()) === undefined) return
    await forget()
    visit.note('a browser signed out', {})
    return visit.say(200, words.signedOutTitle, words.signedOut)
  }
  const field = visit.ports.forms.field(visit.request, visit.response)
  const form = `<form method="post">${field}${button(words.signOut, 'sign-out')}</form>`
  const body = paragraph(words.signOutMeans) + paragraph(words.signOutKeeps) + form
  visit.write({ status: 200, title: words.signOutTitle, body })
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

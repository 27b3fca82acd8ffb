// The page on which a person gives a client a grant, and binds a first channel to it.

import type { Provider } from 'oidc-provider'

import type { AssistantScope } from '#domain/assistants'
import type { KeptBinding } from '#domain/authorization-store'
import type { ChannelCredentials } from '#domain/channel'
import { fault, isFault } from '#domain/fault'
import { isRecord } from '#domain/record'
import { hashOf } from './adapter.ts'
import { nameGrant, scopesIn } from './channel-bindings.ts'
import type { GrantPorts } from './channel-bindings.ts'
import { keepMetadata } from './client-metadata.ts'
import { escaped, paragraph, refusalLine } from './page.ts'
import { button } from './visit.ts'
import type { Visit } from './visit.ts'
import { filled } from './words.ts'
import type { Words } from './words.ts'

interface ConsentPorts extends GrantPorts {
  readonly provider: Provider
  readonly resource: string
  /** The account that stands for the browser; undefined for a new one. */
  readonly browser: () => Promise<string | undefined>
}

/** The request of a client, as the page shows it to the person. */
interface AskedGrant {
  readonly client: Client
  readonly clientId: string
  readonly clientName: string
  readonly scopes: readonly AssistantScope[]
  readonly target: URL
}

type Client = InstanceType<Provider['Client']>

const ACCOUNT_BYTES = 16
const NAME_CHARACTERS_MAX = 120

/** Runs the page of one request for a grant. */
export async function consentPage(visit: Visit, ports: ConsentPorts): Promise<void> {
  const { provider } = ports
  const { request, response, words } = visit
  const details = await provider.interactionDetails(request, response).catch(() => undefined)
  const asked = details && (await askedOf(provider, details.params))
  if (details === undefined || asked === undefined) {
    return visit.say(410, words.expiredTitle, words.expired)
  }
  if (details.result !== undefined) return visit.say(410, words.usedTitle, words.used)
  if (asked.scopes.length === 0) {
    return provider.interactionFinished(request, response, { error: 'invalid_scope' })
  }
  // Nobody signs in here, so the library's account stands for the browser: one that was here before
  // stays who it was.
  const browser = await ports.browser()
  const client = hashOf(asked.clientId)
  const keeps = browser === undefined ? [] : await visit.ports.bindings.ofBrowser(client, browser)
  if (!visit.isPost) return ask(visit, asked, { status: 200, keeps })
  const fields = await visit.form()
  if (fields === undefined) return
  if (fields.get('decision') === 'deny') {
    return provider.interactionFinished(request, response, { error: 'access_denied' })
  }
  const proved = await visit.prove(fields)
  const channelId = fields.get('channel_id') ?? ''
  if (isFault(proved)) {
    const refusal = visit.sentenceOf(proved)
    return ask(visit, asked, { status: visit.statusOf(proved), refusal, channelId, keeps })
  }
  const accountId = browser ?? visit.ports.runtime.entropy(ACCOUNT_BYTES).toString('hex')
  const grantId = await grant(visit, ports, { asked, accountId, proved })
  if (grantId === undefined) {
    const unknown = fault('channel_not_found')
    const refusal = visit.sentenceOf(unknown)
    return ask(visit, asked, { status: visit.statusOf(unknown), refusal, channelId, keeps })
  }
  visit.note('an assistant was granted a channel', { grantId, client, channelId })
  const result = { login: { accountId, remember: true }, consent: { grantId } }
  return provider.interactionFinished(request, response, result)
}

interface Granting {
  readonly asked: AskedGrant
  readonly accountId: string
  readonly proved: ChannelCredentials
}

/** Makes the grant with its first channel; undefined where its password has changed meanwhile. */
async function grant(
  { ports: { bindings, runtime, acceptance } }: Visit,
  { provider, resource, ...ports }: ConsentPorts,
  { asked, accountId, proved }: Granting,
): Promise<string | undefined> {
  const { clientId, clientName, scopes } = asked
  const made = new provider.Grant({ accountId, clientId })
  made.addResourceScope(resource, scopes.join(' '))
  const grantId = await made.save()
  const holder = { grantId, client: hashOf(clientId), browser: accountId, clientName }
  await nameGrant(ports, holder)
  // A client that registered has its metadata here already.
  if (URL.parse(clientId)?.protocol === 'https:') {
    await keepMetadata(ports, clientId, asked.client.metadata())
  }
  const { channelId, passwordHash } = proved
  const boundAt = runtime.nowMs()
  const bound = await bindings.bind({ ...holder, channelId, passwordHash, boundAt })
  if (bound === 'bound') return grantId
  await ports.records.revokeGrant(grantId)
  acceptance.proof.forget(channelId)
  return undefined
}

async function askedOf(provider: Provider, params: unknown): Promise<AskedGrant | undefined> {
  if (!isRecord(params)) return undefined
  const { client_id: clientId, redirect_uri: redirectUri, scope } = params
  if (typeof clientId !== 'string' || typeof redirectUri !== 'string') return undefined
  const client = await provider.Client.find(clientId)
  const target = URL.parse(redirectUri)
  if (client === undefined || target === null) return undefined
  const scopes = scopesIn(scope)
  const clientName = (client.clientName ?? clientId).slice(0, NAME_CHARACTERS_MAX)
  return { client, clientId, clientName, scopes, target }
}

interface Asking {
  readonly status: number
  readonly refusal?: string
  readonly channelId?: string
  /** Channels that this client has from earlier grants in this browser. */
  readonly keeps: readonly KeptBinding[]
}

function ask(visit: Visit, asked: AskedGrant, { status, refusal, channelId, keeps }: Asking): void {
  const { words } = visit
  const { clientName, scopes, target } = asked
  const isWeb = target.protocol === 'https:' || target.protocol === 'http:'
  const place = isWeb ? target.origin : target.protocol
  const may = scopes.map((scope) => `<li>${escaped(words.scopes[scope])}</li>`).join('')
  const buttons = button(words.allow, 'allow') + button(words.deny, 'deny')
  const body = [
    refusalLine(refusal),
    paragraph(filled(words.asks, { client: clientName })),
    paragraph(words.unverified),
    paragraph(words.mayDo),
    `<ul>${may}</ul>`,
    keptChannels(words, keeps),
    paragraph(filled(words.returnsTo, { target: place })),
    visit.channelForm(buttons, channelId),
  ].join('')
  visit.write({ status, title: words.title, body, formTarget: place })
}

/** Each list is of one earlier grant, which ends when the person chooses a channel of it. */
function keptChannels(words: Words, keeps: readonly KeptBinding[]): string {
  const lists = [...Map.groupBy(keeps, ({ grantId }) => grantId).values()].map((channels) => {
    const items = channels.map(({ channelId, channelName }) =>
      escaped(filled(words.channel, { name: channelName, id: channelId })),
    )
    return `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`
  })
  return lists.length === 0 ? '' : paragraph(words.keeps) + lists.join('')
}

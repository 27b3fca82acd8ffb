// Hooks: monitoring tools post what they know, each in its form. What fires opens an Event, what
// resolves closes it, and what only tells is a Message. (docs/hooks.md)
//
// Invariants:
//   hook-payloads/1. A payload has at most 1 MiB and 1,000 alarms. It is read once its key has
//                    opened the channel. Of what stands beside a list of alarms, only members that
//                    tables read go along with each: BESIDE_BYTES_MAX with all of them. Tools send
//                    a hundred bytes; sixty thousand members took three quarters of a minute. (W7)
//   hook-payloads/2. Where the channel has a secret for the kind, a payload without the proof of it
//                    counts as a guess and becomes nothing.
//   hook-payloads/3. A refusal that may end later is a 503: tools try again soon after that, and
//                    late or never after 429.
//   hook-payloads/4. Behind ALARMS_IN_A_ROW alarms that it reads, and as many that it submits, the
//                    thread reads what has arrived. (W7)

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { HookSender, Told } from '#src/acceptance/channels/hooks'
import { COMPATIBILITY_CODES, fieldsOf } from '#src/compat/sending'
import { envelope } from '#src/ingress/answerer'
import type { Answerer } from '#src/ingress/answerer'
import type { Style } from '#src/ingress/ingress'
import { formBody, multipartBody } from '#src/ingress/reader'
import type { Reader } from '#src/ingress/reader'
import type { Request } from '#src/ingress/request'
import type { Row } from '#src/ingress/row'
import type { JsonObject } from '#src/mqtt/devices/payload'
import { readJson } from '#src/schemas/json/json'
import { given, whole } from '#src/schemas/json-schema'
import type { ChannelHooks } from '#src/schemas/mappings/hook-requests'
import type { SignedKind } from '#src/schemas/mappings/hook-schemas'
import { invalid } from '#src/schemas/values'
import { KINDS, SIGNATURES } from './kinds.ts'
import type { Kind } from './kinds.ts'
import { isFor, membersOf, readTold } from './reading.ts'
import { isSigned } from './signatures.ts'

const PAYLOAD_BYTES_MAX = 2 ** 20
const ALARMS_MAX = 1_000
const BESIDE_BYTES_MAX = 2 ** 20
/** Alarms that are read, or submitted, before other requests are read. */
const ALARMS_IN_A_ROW = 50

interface Payload {
  readonly bytes: Uint8Array
  readonly contentType: string
}

/** Takes any Content-Type: some tools name none. */
const PAYLOAD: Reader<Payload> = {
  bytesMax: PAYLOAD_BYTES_MAX,
  isQueryRead: false,
  mediaTypes: [],
  codes: ['invalid_json_syntax', 'invalid_json_data', 'malformed_body'],
  read: (body, contentType) => ({ bytes: Buffer.from(body), contentType }),
}

type Sent = Request<Payload>

/** Submissions that a payload became. */
interface Taken {
  readonly accepted: number
}

const TAKEN: Answerer<Taken> = envelope(({ accepted }: Taken) => ({ accepted }))

/** hook-payloads/3 */
const ANSWER: Answerer<Taken> = {
  ...TAKEN,
  failure: (refusal, request) => ({
    ...TAKEN.failure(refusal.code === 'rate_limited' ? shed(refusal) : refusal, request),
    code: refusal.code,
  }),
}

const shed = ({ retryAfterMs = 1_000 }: Fault): Fault => fault('server_busy', { retryAfterMs })

const HEADERS: readonly string[] = [
  'authorization',
  'x-channel-key',
  ...Object.values(SIGNATURES).map(({ header }) => header),
  ...Object.values(KINDS).flatMap(({ event, delivery }: Kind) =>
    [event ?? [], delivery ?? []].flat(),
  ),
]

/**
 * The rows of hooks. Tools have no place for the gateway token: where there is one, a key opens the
 * channel, and a password only beside the token.
 */
export const hookStyle =
  ({ keysOnly }: { readonly keysOnly: boolean }): Style =>
  (acceptance) =>
    (['/hook/{kind}/{key}', '/hook/{kind}'] as const).map((path): Row => ({
      path,
      methods: ['POST', 'PUT'],
      token: 'none',
      credentials: path.endsWith('{key}') ? 'path' : 'header',
      headers: HEADERS,
      reader: PAYLOAD,
      isSafe: false,
      handle: (request: Sent) => take(acceptance, keysOnly, request),
      answerer: ANSWER,
      about: {
        tag: 'Hooks',
        summary: path.endsWith('{key}')
          ? 'Take the payload of a monitoring tool'
          : 'The same with the key as X-Channel-Key or Bearer',
        codes: [...COMPATIBILITY_CODES, 'authentication_failed', 'route_not_found'],
        bodies: {
          'application/json': { type: 'object', description: `${Object.keys(KINDS).join(', ')}.` },
        },
        data: whole({ accepted: given('integer', 'Submissions that it became.') }),
      },
    }))

const hasSignature = (name: string): name is SignedKind => Object.hasOwn(SIGNATURES, name)
const isKind = (name: string): name is keyof typeof KINDS => Object.hasOwn(KINDS, name)

/** The key of the path, or of a header. */
function keyOf({ parameters, headers }: Sent): string {
  const [, bearer = ''] = /^bearer +(\S+)$/i.exec(headers['authorization'] ?? '') ?? []
  return [parameters['key'], headers['x-channel-key'], bearer].find((key) => key) ?? ''
}

async function take(
  acceptance: Acceptance,
  keysOnly: boolean,
  request: Sent,
): Promise<Answer<Taken>> {
  const tool = request.parameters['kind'] ?? ''
  if (!isKind(tool)) return fault('route_not_found')
  const fields = fieldsOf(keyOf(request))
  if (isFault(fields)) return fields
  const { hooks, callerCheck } = acceptance
  const byKey = keysOnly && !callerCheck.provesToken(request.headers['authorization'] ?? '')
  const channelId = await hooks.open({ ...fields }, request, byKey)
  if (isFault(channelId)) return channelId
  const isSigning = hasSignature(tool)
  const set = isSigning || tool === 'json' ? await hooks.of(channelId) : undefined
  const unproven = set && isSigning ? unprovenBy(set, tool, request) : undefined
  if (unproven !== undefined) return acceptance.access.refuse(request, unproven)
  const told = await readPayload(tool, { set, hooks }, request)
  if (isFault(told)) return told
  const credentials = { channelId, password: fields.password }
  const sender: HookSender = { tool, credentials, caller: request }
  let turn = Promise.resolve()
  const outcomes = await Promise.all(
    told.map((one, index) => {
      // hook-payloads/4
      if (index > 0 && index % ALARMS_IN_A_ROW === 0) turn = turn.then(() => hooks.pause())
      return turn.then(() => hooks.submit(one, sender))
    }),
  )
  const refusal = outcomes.find(isFault)
  return refusal ?? { accepted: outcomes.filter((outcome) => outcome !== undefined).length }
}

/** hook-payloads/2 */
function unprovenBy(
  { secrets }: ChannelHooks,
  tool: SignedKind,
  { body, headers }: Sent,
): Fault | undefined {
  const secret = secrets[tool]
  const signature = SIGNATURES[tool]
  const { header } = signature
  const proof = { payload: body.bytes, sent: headers[header] ?? '' }
  return secret === undefined || isSigned(signature, secret, proof)
    ? undefined
    : fault('channel_not_found', { field: header, detail: `${header} is not by the secret` })
}

interface Reading {
  readonly set: ChannelHooks | undefined
  readonly hooks: Pick<Acceptance['hooks'], 'pause'>
}

/** What a payload tells; the refusal names the member that is at fault. */
async function readPayload(
  tool: keyof typeof KINDS,
  { set, hooks }: Reading,
  request: Sent,
): Promise<Answer<readonly Told[]>> {
  const { event, delivery, list, tables = set?.mappings ?? [] }: Kind = KINDS[tool]
  const payload = await objectIn(request.body)
  if (isFault(payload)) return payload
  const named = { ...payload, $event: event === undefined ? '' : request.headers[event] }
  const items = list === undefined ? [named] : payload[list]
  if (!Array.isArray(items)) return invalid(list ?? '', 'must be a list')
  // hook-payloads/1
  if (items.length > ALARMS_MAX) return invalid(list ?? '', `must be at most ${ALARMS_MAX}`)
  const beside = list === undefined ? {} : besideList(tables, named)
  // hook-payloads/1
  if (JSON.stringify(beside).length * items.length > BESIDE_BYTES_MAX) {
    return invalid(list ?? '', 'is too long for what stands beside it')
  }
  const repeatKey = delivery === undefined ? '' : (request.headers[delivery] ?? '')
  const told: Told[] = []
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % ALARMS_IN_A_ROW === 0) await hooks.pause() // hook-payloads/4
    const one = readItem(tables, { ...beside, ...(isRecord(item) && item) }, request)
    if (isFault(one)) return list === undefined ? one : ofItem(one, `${list}[${index}]`)
    if (one === undefined) continue
    told.push(one.kind === 'message' && repeatKey !== '' ? { ...one, repeatKey } : one)
  }
  return told
}

/** What goes along with each alarm of a list. (hook-payloads/1) */
function besideList(tables: NonNullable<Kind['tables']>, payload: JsonObject): JsonObject {
  const names = new Set(tables.flatMap((table) => [...membersOf(table)]))
  return Object.fromEntries(Object.entries(payload).filter(([name]) => names.has(name)))
}

const UNKNOWN = invalid('payload', 'is not of this kind; docs/hooks.md says what each one takes')

function readItem(
  tables: NonNullable<Kind['tables']>,
  payload: JsonObject,
  { receivedAtMs }: Sent,
): Answer<Told | undefined> {
  const places = tables.find((one) => isFor(one, payload))
  return places === undefined ? UNKNOWN : readTold(places, payload, receivedAtMs)
}

const ofItem = ({ code, field = '', detail = '' }: Fault, item: string): Fault =>
  fault(code, { field: `${item}.${field}`, detail: `${item}: ${detail}` })

/** The object of a payload: JSON, or JSON in the field `payload` or `data` of a form. */
async function objectIn({ bytes, contentType }: Payload): Promise<Answer<JsonObject>> {
  const form = FORMS.find(({ mediaTypes: [type = ''] }) => contentType.startsWith(type))
  let json = bytes
  if (form !== undefined) {
    const read = await form.read(bytes, contentType)
    if (isFault(read)) return read
    json = Buffer.from(read.texts.get('payload') ?? read.texts.get('data') ?? '')
  }
  const value = readJson(json)
  if (isFault(value) || isRecord(value)) return value
  return fault('invalid_json_data', { field: 'payload', detail: 'payload must be a JSON object' })
}

const FORMS = [formBody(PAYLOAD_BYTES_MAX), multipartBody(PAYLOAD_BYTES_MAX)]

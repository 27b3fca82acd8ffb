// The device API of ThingsBoard over HTTP: telemetry and attributes of the device that a key
// stands for. Its paths are fixed in firmware, so they stand at the root. What they mean is read as
// over MQTT. (Specification: MQTT, Devices as they are; docs/mqtt-devices.md)

import { fault, isFault } from '#domain/fault'
import { isKeyForm } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import { COMPATIBILITY_CODES, GUARDS, json } from '#src/compat/sending'
import { imitation } from '#src/ingress/answerer'
import type { Answerer } from '#src/ingress/answerer'
import type { Style } from '#src/ingress/ingress'
import { BODY_BYTES_MAX, bytesBody } from '#src/ingress/reader'
import type { Request } from '#src/ingress/request'
import type { Row } from '#src/ingress/row'
import { ownThingId } from '#src/mqtt/devices/entity-name'
import { NO_STATE } from '#src/mqtt/devices/family-state'
import { lineOf } from '#src/refusals/refusal'
import { given, whole } from '#src/schemas/json-schema'
import type { JsonSchema } from '#src/schemas/json-schema'

const NOT_FOUND = fault('channel_not_found')

const REFUSAL = whole({
  status: given('integer', 'The status of the answer.'),
  message: given('string', 'What is wrong.'),
})

/** Taken, with an empty body. */
const TAKEN: Answerer<true> = imitation({
  success: () => ({ contentType: 'text/plain; charset=utf-8', headers: GUARDS, body: '' }),
  failure: (refusal, status) => json({ status, message: lineOf(refusal) }),
})

const VALUES: JsonSchema = { type: 'object', description: 'Values by their names.' }
const TELEMETRY: JsonSchema = {
  description: 'Values, or {"ts", "values"} with Unix milliseconds, or a list of either.',
  anyOf: [VALUES, { type: 'array', items: VALUES }],
}

/** What devices post, with the summary of the document. */
const POSTED = {
  telemetry: ['Post telemetry of a device', TELEMETRY],
  attributes: ['Post attributes of a device', VALUES],
} as const

type Kind = keyof typeof POSTED

/** The rows of the device API. The key alone opens them: devices have no place for a token. */
export const thingsBoardStyle: Style = (acceptance) =>
  (['telemetry', 'attributes'] as const).map((kind): Row => {
    const [summary, body] = POSTED[kind]
    return {
      path: `/api/v1/{access_token}/${kind}`,
      methods: ['POST'],
      token: 'none',
      credentials: 'path',
      reader: bytesBody(BODY_BYTES_MAX),
      isSafe: false,
      handle: (request: Request<Uint8Array>) => take(acceptance, kind, request),
      answerer: TAKEN,
      about: {
        tag: 'ThingsBoard device API',
        summary,
        codes: [...COMPATIBILITY_CODES, 'invalid_json_syntax', 'invalid_json_data'],
        bodies: { 'application/json': body },
        raw: { mediaType: 'text/plain', schema: { type: 'string' } },
        rawRefusal: REFUSAL,
      },
    }
  })

async function take(
  { access, submissions }: Acceptance,
  kind: Kind,
  request: Request<Uint8Array>,
): Promise<Answer<true>> {
  const { access_token: password = '' } = request.parameters
  if (!isKeyForm(password)) return NOT_FOUND
  const open = await access.enter({ password }, request, { keysOnly: true })
  if (isFault(open)) return open
  const { key } = open
  if (key === undefined) return NOT_FOUND
  const clientId = `device-${key.keyId.slice(0, 8)}`
  const sender = { thingId: ownThingId({ ...key, clientId }), mappings: [], key }
  const { body: payload, receivedAtMs } = request
  const topic = `v1/devices/me/${kind}`
  // Loaded for those who have such devices: it knows every family.
  const { translate } = await import('#src/mqtt/devices/translate')
  const read = translate({ topic, payload, receivedAtMs }, { sender, state: NO_STATE })
  if (read === undefined) throw new Error(`nothing takes ${topic}`)
  if (isFault(read)) return read.code === 'key_scope' ? access.refuse(request, read) : read
  const outcomes = await Promise.all(
    read.wishes.map(async ({ intent, fields }) =>
      submissions.submit(intent, { ...fields, password }, request),
    ),
  )
  return outcomes.find(isFault) ?? true
}

// The device-key style: v1 has its texts in the path, v2 in a body. The Content-Type decides which
// values win. (Specification: Compatibility endpoints; docs/migrating.md)

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import type { Acceptance } from '#src/acceptance/acceptance'
import { DEVICE_KEYS_MAX, deviceKeysOf, readDeviceKeyMessage } from './message.ts'
import {
  DEVICE_KEY_ANSWER,
  DEVICE_KEY_JSON,
  DEVICE_KEY_PUSH_FORM,
  DEVICE_KEY_PUSH_JSON,
  DEVICE_KEY_VALUES,
} from './schemas.ts'
import type { Style } from '#src/ingress/ingress'
import { NOTHING } from '#src/ingress/reader'
import type { About, Row } from '#src/ingress/row'
import { PONG, PUSHED, TEXT_OK, memberOf } from './answers.ts'
import type { Member, Pushed } from './answers.ts'
import { COMPATIBILITY_CODES, send, spellings, tokenFrom } from '#src/compat/sending'
import type { Request } from '#src/ingress/request'
import { VALUES, bodiesOf, Given } from '#src/compat/values-body'
import type { Values } from '#src/compat/values-body'
import { invalid } from '#src/schemas/values'

type Sent = Request<Values>

/** Paths behind the key: a text, a title before it, a subtitle between them. */
const PATHS = ['', '/{body}', '/{title}/{body}', '/{title}/{subtitle}/{body}'] as const

const SHARED = { token: 'required', tokenFrom, isSafe: false, reader: VALUES } as const
const QUESTION = { ...SHARED, credentials: 'none', methods: ['GET'], reader: NOTHING } as const
const about = (summary: string, more: Partial<About> = {}): About => ({
  tag: 'Device-key style',
  summary,
  codes: COMPATIBILITY_CODES,
  raw: { mediaType: 'application/json', schema: DEVICE_KEY_ANSWER },
  rawRefusal: DEVICE_KEY_ANSWER,
  ...more,
})

/** The rows of the device-key style. */
export const deviceKeyStyle =
  ({ prefix }: { readonly prefix: string }): Style =>
  (acceptance) => [
    ...PATHS.map((path) => pathRow(acceptance, prefix, path)),
    {
      ...SHARED,
      ...spellings(`${prefix}/push`),
      methods: ['POST'],
      credentials: 'body',
      handle: (request: Sent) => pushTo(acceptance, request, ''),
      answerer: PUSHED,
      about: about('Push what the body says, v2', {
        bodies: bodiesOf(DEVICE_KEY_PUSH_FORM, DEVICE_KEY_PUSH_JSON),
      }),
    },
    ...questionRows(prefix),
  ]

const pathRow = (acceptance: Acceptance, prefix: string, path: string): Row => ({
  ...SHARED,
  path: `${prefix}/{device_key}${path}`,
  // Clients whose setting ends in a slash put two behind the key.
  alsoAt: ['{device_key}', '{device_key}/'].flatMap((key) => {
    const spelled = `${prefix}/${key}${path}`
    return path === '' || key === '{device_key}' ? [`${spelled}/`] : [spelled, `${spelled}/`]
  }),
  methods: ['GET', 'POST'],
  credentials: 'path',
  decode: decodeSegment,
  handle: (request: Sent) => pushTo(acceptance, request, request.parameters['device_key'] ?? ''),
  answerer: PUSHED,
  about: about('Push what the path says, v1', {
    query: DEVICE_KEY_VALUES,
    bodies: bodiesOf(DEVICE_KEY_VALUES, DEVICE_KEY_JSON),
    isBodyOptional: true,
  }),
})

/** Texts are decoded as form data, so that `+` is a space; a password may hold one. */
const decodeSegment = (sent: string, name: string): string =>
  decodeURIComponent(name === 'device_key' ? sent : sent.replaceAll('+', ' '))

async function pushTo(acceptance: Acceptance, request: Sent, key: string): Promise<Answer<Pushed>> {
  const given = givenIn(request)
  const keys = key === '' && request.body.isJson ? deviceKeysOf(given) : undefined
  if (keys === 'neither') return invalid('device_keys', 'must be an array of texts or a text')
  if (keys !== undefined && keys.length > 0) return pushToAll(acceptance, request, { given, keys })
  const only = key === '' ? (given.text('device_key') ?? '') : key
  if (only === '') return invalid('device_key', 'is empty')
  const message = readDeviceKeyMessage(given)
  const accepted = await send(acceptance, only, { message, caller: request })
  return isFault(accepted) ? accepted : {}
}

/** One result for each key, in their order; each counts in the password budget by itself. */
async function pushToAll(
  acceptance: Acceptance,
  request: Sent,
  { given, keys }: { readonly given: Given; readonly keys: readonly string[] },
): Promise<Answer<Pushed>> {
  if (keys.length > DEVICE_KEYS_MAX) {
    return invalid('device_keys', `must hold at most ${DEVICE_KEYS_MAX} keys`)
  }
  const message = readDeviceKeyMessage(given)
  const members: Member[] = []
  for (const [index, key] of keys.entries()) {
    const caller = index === 0 ? request : acceptance.callerCheck.again(request)
    const outcome = await send(acceptance, key, { message, caller })
    caller.attempt?.end()
    members.push(memberOf(key, isFault(outcome) ? outcome : undefined))
  }
  return { members }
}

/** Merges the sources. From the weakest to the strongest: JSON, the query, a form, the path. */
function givenIn({ body, query, parameters }: Sent): Given {
  const given = new Given()
  const sources = body.isJson ? [body.entries, query] : [query, body.entries]
  for (const source of sources) given.over(inLowerCase(source))
  return given.over(Object.entries(parameters))
}

type Entry = readonly [name: string, value: unknown]

/** Levels of nested objects that are read: the tool reads their members as its own. */
const LEVELS_MAX = 4

const inLowerCase = (entries: Iterable<Entry>, level = 1): readonly Entry[] =>
  [...entries].flatMap(([name, value]): readonly Entry[] => {
    if (!isRecord(value)) return [[name.toLowerCase(), value]]
    return level < LEVELS_MAX ? inLowerCase(Object.entries(value), level + 1) : []
  })

const questionRows = (prefix: string): readonly Row[] => [
  {
    ...QUESTION,
    ...spellings(`${prefix}/ping`),
    token: 'none',
    handle: () => ({}),
    answerer: PONG,
    about: about('Ask whether it answers'),
  },
  ...['', '/healthz'].map((path) => ({
    ...QUESTION,
    ...spellings(`${prefix}${path}`),
    handle: () => ({}),
    answerer: TEXT_OK,
    about: about('Ask for health', {
      raw: { mediaType: 'text/plain', schema: { type: 'string' } },
    }),
  })),
]

// The send-key style: title and desp, sent to a key that stands in the path. (Specification:
// Compatibility endpoints; docs/migrating.md)

import { defined } from '#domain/record'
import { FAULTS, fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Operation } from '#domain/operation'
import type { Answer } from '#domain/ports'
import { TITLE_IN_DEFAULT } from '#domain/submission'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Accepted } from '#src/acceptance/intent'
import { imitation } from '#src/ingress/answerer'
import type { Answerer, Imitated } from '#src/ingress/answerer'
import type { Style } from '#src/ingress/ingress'
import { QUERY } from '#src/ingress/reader'
import { lineOf } from '#src/refusals/refusal'
import type { About, Row } from '#src/ingress/row'
import { COMPATIBILITY_CODES, json, send, spellings, tokenFrom } from '#src/compat/sending'
import type { Request } from '#src/ingress/request'
import { VALUES, bodiesOf, Given } from '#src/compat/values-body'
import type { Values } from '#src/compat/values-body'
import { SCALAR, scalarsOf, textsOf } from '#src/compat/values-body'
import { given, inOneCase, object, requiredText } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { OPERATION_ID_FORM, VISIBLE_TEXT, exactly } from '#src/schemas/patterns'
import type { CompatibilityMessage, Scalar } from '#src/compat/extras'
import { Extras, fittingTags } from '#src/compat/extras'

const SEND_KEY_DESCRIPTIONS = {
  title: 'The title.',
  text: 'An older name of title.',
  desp: 'The text, in Markdown.',
  tags: 'Tags, with bars between them.',
  short: 'A short text for a card.',
  encoded: '1: desp is encrypted.',
}

/** The members of which one must say something, by the name of the case. */
const SEND_KEY_CASES = { title: 'Title', text: 'Older title', desp: 'Text' } as const

const wholeOf = (values: ObjectSchema, type: JsonSchema['type']): ObjectSchema =>
  inOneCase(
    values,
    Object.entries(SEND_KEY_CASES).map(([name, title]) => ({
      ...object({ [name]: { type, pattern: VISIBLE_TEXT } }, [name]),
      title,
    })),
  )

/** At least one of title, text and desp must say something. */
const SEND_KEY_VALUES = wholeOf(textsOf(SEND_KEY_DESCRIPTIONS), 'string')
const SEND_KEY_JSON = wholeOf(scalarsOf(SEND_KEY_DESCRIPTIONS), SCALAR)

const SEND_KEY_STATUS_QUERY = object(
  {
    id: requiredText('The pushid of the answer.', exactly(OPERATION_ID_FORM)),
    readkey: given('string', 'The readkey of the answer; it is not checked.'),
  },
  ['id'],
)

/** Success has the code 0. */
const SEND_KEY_ANSWER = object(
  {
    code: given('integer', '0 for success.'),
    message: given('string', 'The error, for a reader; empty for success.'),
    data: given('object', 'pushid and readkey, or the error once more.'),
  },
  ['code', 'message', 'data'],
)

/** The tool's code for a refusal: one for a fault of the sender, one for the rest. */
const codeOf = ({ field }: Fault): number => (field === 'title' ? 20_001 : 40_001)

/** Some clients read data.errno, others the errno beside it: both are there and not zero. */
const failure = (refusal: Fault, status: number): Imitated => {
  const code = status === 400 || status === 404 ? codeOf(refusal) : status
  const kind = code === 20_001 ? 'INPUT' : 'AUTH'
  return json({
    code,
    errno: code,
    message: `[${kind}]${lineOf(refusal)}`,
    errmsg: FAULTS[refusal.code],
    info: lineOf(refusal),
    args: [null],
    data: { errno: code, error: refusal.code },
  })
}

/** One object that every generation of clients takes for success. */
export const SENT: Answerer<Accepted> = imitation({
  success: ({ opId, entityId }) =>
    json({
      code: 0,
      message: '',
      errno: 0,
      errmsg: 'success',
      dataset: 'done',
      data: { pushid: opId, readkey: entityId, error: 'SUCCESS', errno: 0 },
    }),
  failure,
})

/** The state of a message. `wxstatus` is empty until it was handled. */
const STATE: Answerer<Operation> = imitation({
  success: ({ opId, status }) => {
    const isHandled = status !== 'accepted' && status !== 'processing'
    return json({
      code: 0,
      message: '',
      data: { id: opId, wxstatus: isHandled ? JSON.stringify({ status }) : '' },
    })
  },
  failure,
})

const about = (summary: string, more: Partial<About>): About => ({
  tag: 'Send-key style',
  summary,
  codes: COMPATIBILITY_CODES,
  raw: { mediaType: 'application/json', schema: SEND_KEY_ANSWER },
  rawRefusal: SEND_KEY_ANSWER,
  ...more,
})

const ABOUT_VALUES = {
  GET: { query: SEND_KEY_VALUES },
  POST: { bodies: bodiesOf(SEND_KEY_VALUES, SEND_KEY_JSON) },
} as const

/** The rows of the send-key style. */
export const sendKeyStyle =
  ({ prefix }: { readonly prefix: string }): Style =>
  (acceptance) => {
    const rows = ['/{sendkey}', '/send/{sendkey}'].flatMap((path) =>
      (['GET', 'POST'] as const).map((method): Row => ({
        ...spellings(prefix + path),
        methods: [method],
        token: 'required',
        tokenFrom,
        credentials: 'path',
        reader: VALUES,
        isSafe: false,
        handle: (request: Request<Values>) => submit(acceptance, request),
        answerer: SENT,
        about: about('Send a title and a text', ABOUT_VALUES[method]),
      })),
    )
    return [...rows, statusRow(acceptance, prefix)]
  }

/** Every client adds `.send` to its key. The body wins over the query. */
function submit(
  acceptance: Acceptance,
  request: Request<Values>,
): Answer<Accepted> | Promise<Answer<Accepted>> {
  const key = (request.parameters['sendkey'] ?? '').replace(/\.send$/, '')
  const message = readSendKeyMessage(new Given().over(request.query).over(request.body.entries))
  return isFault(message) ? message : send(acceptance, key, { message, caller: request })
}

const statusRow = ({ statuses }: Acceptance, prefix: string): Row => ({
  ...spellings(`${prefix}/push`),
  methods: ['GET'],
  token: 'required',
  tokenFrom,
  credentials: 'none',
  reader: QUERY,
  isSafe: true,
  handle: (request) => statuses.find(request.query.get('id') ?? '', request),
  answerer: STATE,
  about: about('Ask what became of a message, by its pushid', {
    query: SEND_KEY_STATUS_QUERY,
    codes: ['send_status_not_found', 'validation_failed'],
  }),
})

/** Parameters that have a place of their own, or are no part of the message. */
const PLACED: ReadonlySet<string> = new Set([
  'title',
  'text',
  'desp',
  'tags',
  'auth',
  'authorization',
  'timestamp',
])

/** The Message of a request; validation_failed naming title when it says nothing. */
function readSendKeyMessage(sent: Given): Answer<CompatibilityMessage> {
  const title = sent.text('title') ?? sent.text('text')
  const desp = sent.text('desp')
  if (title === undefined && desp === undefined) {
    return fault('validation_failed', { field: 'title', detail: 'title is required' })
  }
  const isEncoded = sent.text('encoded') === '1'
  const extras = new Extras('compat.sendkey.')
  for (const [name, value] of sent.scalars()) {
    if (!PLACED.has(name)) extras.add(name, value satisfies Scalar)
  }
  return defined({
    title: title ?? TITLE_IN_DEFAULT,
    body: isEncoded ? undefined : desp,
    ciphertext: isEncoded ? desp : undefined,
    tags: fittingTags(sent.text('tags')?.split('|') ?? []),
    metadata: extras.metadata(),
    severity: undefined,
    url: undefined,
    images: undefined,
  })
}

// The topic style: reads a publication as a Message. (decisions.md 12)

import { defined } from '#domain/record'
import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { UNIT_MS } from '#domain/runtime'
import type { Unit } from '#domain/runtime'
import { TITLE_IN_DEFAULT } from '#domain/submission'
import { parseJson } from '#src/schemas/json/json'
import { invalid } from '#src/schemas/values'
import type { CompatibilityMessage } from '#src/compat/extras'
import { Extras, fittingImages, fittingTags, isWebUrl, storable } from '#src/compat/extras'
import { isNo, isYes } from './parameters.ts'
import type { TopicParameter, TopicParameters } from './parameters.ts'

/** One request to publish. */
export interface TopicRequest {
  readonly parameters: TopicParameters
  readonly body: Uint8Array
  readonly contentType: string
  readonly contentEncoding: string
  /** The part of the path behind the topic; '' for none. */
  readonly sequenceId: string
  /** The time of arrival. */
  readonly nowMs: number
}

/** A publication; members that the sender left out are absent. */
export interface Publication {
  readonly message: CompatibilityMessage
  /** Values that the answer repeats, under its names for them. */
  readonly echo: Readonly<Record<string, unknown>>
  /** False when the sender asked for it not to be kept. */
  readonly isKept: boolean
}

export const PRIORITIES = { min: 1, low: 2, default: 3, high: 4, max: 5, urgent: 5 } as const
/** The priority of a name in any case. */
export const priorityNamed = (name: string): number | undefined =>
  Object.entries(PRIORITIES).find(([known]) => known === name.toLowerCase())?.[1]
const SEVERITY_OF = ['normal', 'low', 'low', 'normal', 'high', 'critical'] as const
export const SEQUENCE_ID = /^[A-Za-z0-9_-]{1,64}$/
const PICTURE = /\.(png|jpe?g|gif|webp|avif|svg|bmp|heic)$/i

/** The Message of a request, or the fault for which the tool itself would refuse it. */
export function readPublication(request: TopicRequest): Answer<Publication> {
  const { parameters } = request
  const refusal = notOffered(parameters) ?? malformed(parameters)
  if (refusal !== undefined) return refusal
  const priority = priorityOf(parameters('priority'))
  if (isFault(priority)) return priority
  const sequenceId = request.sequenceId === '' ? parameters('sequence_id') : request.sequenceId
  if (sequenceId !== '' && !SEQUENCE_ID.test(sequenceId)) {
    return invalid('sequence_id', 'must be 1 to 64 letters, digits, - or _')
  }
  const actions = actionsOf(parameters('actions'))
  if (isFault(actions)) return actions
  const deliverAt = deliverAtOf(parameters('delay'), request.nowMs)
  if (isFault(deliverAt)) return deliverAt
  const text = textOf(request)
  if (isFault(text)) return text
  return publicationOf(request, { priority, sequenceId, actions, deliverAt, text })
}

interface Understood {
  readonly priority: number | undefined
  readonly sequenceId: string
  readonly actions: string
  readonly deliverAt: number | undefined
  readonly text: Text
}

function publicationOf(request: TopicRequest, understood: Understood): Publication {
  const { priority, sequenceId, actions, deliverAt, text } = understood
  const given = (name: TopicParameter): string | undefined =>
    storable(request.parameters(name)).trim() || undefined
  const attach = given('attach')
  const isPicture = attach !== undefined && PICTURE.test(attach.split(/[?#]/, 1)[0] ?? '')
  const isMarkdown =
    isYes(given('markdown') ?? '') || /^text\/markdown\b/i.test(request.contentType)
  const isKept = !isNo(given('cache') ?? '')
  const tags = (given('tags') ?? '').split(',').flatMap((tag) => tag.trim() || [])
  const extras = new Extras('compat.topic.')
  extras.add('priority', priority)
  extras.add('markdown', isMarkdown || undefined)
  extras.addWhole('icon', given('icon'))
  if (!isPicture) extras.addWhole('attach', attach)
  extras.add('filename', given('filename'))
  extras.addWhole('actions', actions)
  extras.add('sequence_id', sequenceId)
  extras.add('cache', given('cache'))
  extras.add('firebase', given('firebase'))
  extras.add('poll_id', given('poll_id'))
  extras.add('encoding', text.encoding)
  return {
    isKept,
    message: defined({
      title: given('title') ?? TITLE_IN_DEFAULT,
      body: text.text,
      severity: priority === undefined ? undefined : SEVERITY_OF[priority],
      url: given('click') ?? (isPicture ? undefined : attach),
      images: isPicture ? fittingImages([attach]) : undefined,
      tags: fittingTags(tags),
      metadata: extras.metadata(),
      ciphertext: undefined,
      deliver_at: deliverAt,
    }),
    echo: defined({
      sequence_id: sequenceId || undefined,
      title: given('title'),
      message: text.text,
      priority,
      tags: tags.length === 0 ? undefined : tags,
      click: given('click'),
      icon: given('icon'),
      attachment: attach === undefined ? undefined : { name: attachmentName(request), url: attach },
      poll_id: given('poll_id'),
      content_type: isMarkdown ? 'text/markdown' : undefined,
      encoding: text.encoding,
    }),
  }
}

/**
 * Refuses features that this gateway does not offer, as a server of the tool does that has them
 * switched off.
 */
function notOffered(parameters: TopicParameters): Fault | undefined {
  const wanted = (['email', 'call', 'template'] as const).find(
    (name) => !/^(|0|no|false)$/i.test(parameters(name)),
  )
  return wanted && invalid(wanted, 'is not offered')
}

function malformed(parameters: TopicParameters): Fault | undefined {
  for (const name of ['icon', 'attach'] as const) {
    const url = parameters(name)
    if (url !== '' && !isWebUrl(url)) return invalid(name, 'must be an http or https URL')
  }
  return undefined
}

function priorityOf(sent: string): Answer<number | undefined> {
  if (sent === '') return undefined
  const priority = priorityNamed(sent) ?? (/^[1-5]$/.test(sent) ? Number(sent) : undefined)
  return priority ?? invalid('priority', 'must be 1 to 5, min, low, default, high, max or urgent')
}

/** The time at which the message leaves; undefined for at once. */
function deliverAtOf(sent: string, nowMs: number): Answer<number | undefined> {
  if (sent === '') return undefined
  const rule = 'must be a duration such as 30m, a Unix time, or a date with its time zone'
  return readDelay(sent, nowMs) ?? invalid('delay', rule)
}

/** The actions as they were sent; what looks like JSON must be JSON. */
function actionsOf(sent: string): Answer<string> {
  if (!sent.startsWith('[')) return sent
  try {
    parseJson(sent)
    return sent
  } catch {
    return invalid('actions', 'must be a JSON array')
  }
}

interface Text {
  readonly text: string
  readonly encoding?: 'base64'
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The body is the text, whatever its Content-Type says; an empty one leaves the parameter. */
function textOf(request: TopicRequest): Answer<Text> {
  const { parameters, body } = request
  if (parameters('poll_id') !== '') return { text: 'New message' }
  const isUnifiedPush =
    isYes(parameters('unifiedpush')) || request.contentEncoding.toLowerCase() === 'aes128gcm'
  const sent = decoded(body)
  if (isUnifiedPush && body.length > 0) {
    if (sent !== undefined && sent.trim() !== '' && !sent.includes('\0')) return { text: sent }
    return { text: Buffer.from(body).toString('base64'), encoding: 'base64' }
  }
  const isUpload = parameters('filename') !== '' && parameters('attach') === ''
  if (sent === undefined || (isUpload && body.length > 0)) {
    return invalid('filename', 'is not offered: files cannot be uploaded')
  }
  const message = parameters('message').replaceAll('\\n', '\n')
  const text = storable(sent).trim() || storable(message).trim()
  if (text !== '') return { text }
  const isAttached = parameters('attach') !== ''
  return { text: isAttached ? `You received a file: ${attachmentName(request)}` : 'triggered' }
}

function decoded(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body)
  } catch {
    return undefined
  }
}

/** The sender's name of the file, else the end of its URL. */
function attachmentName({ parameters }: TopicRequest): string {
  const url = URL.parse(parameters('attach'))
  return parameters('filename') || url?.pathname.split('/').at(-1) || 'attachment'
}

// The delay of a publication: a duration in the words of the tool, or a time.

const DURATION = /^(\d{1,7})\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$/
const UNIX_TIME = /^\d{9,13}$/
const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(z|[+-]\d{2}:\d{2})$/i
/** Times below this are seconds. */
const MILLISECONDS_FROM = 1_000_000_000_000

/**
 * Unix milliseconds of `30m`, `2 hours`, a Unix time or an ISO 8601 date with its zone; undefined
 * for anything else. Words such as `tomorrow` depend on a time zone, which nobody names.
 */
function readDelay(sent: string, nowMs: number): number | undefined {
  const text = sent.trim().toLowerCase()
  const [, count, unit] = DURATION.exec(text) ?? []
  if (unit !== undefined) return nowMs + Number(count) * UNIT_MS[unit.charAt(0) as Unit]
  if (UNIX_TIME.test(text)) {
    const time = Number(text)
    return time < MILLISECONDS_FROM ? time * 1000 : time
  }
  const time = DATE.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(time) ? undefined : time
}

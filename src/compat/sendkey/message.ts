// The send-key style: title and desp, as a Message. (decisions.md 12)

import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { CompatibilityMessage, Scalar } from '#src/compat/extras'
import { Extras, TITLE_IN_DEFAULT, fittingTags, present } from '#src/compat/extras'
import type { Given } from '#src/compat/given'

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
export function readSendKeyMessage(given: Given): Answer<CompatibilityMessage> {
  const title = given.text('title') ?? given.text('text')
  const desp = given.text('desp')
  if (title === undefined && desp === undefined) {
    return fault('validation_failed', { field: 'title', detail: 'title is required' })
  }
  const isEncoded = given.text('encoded') === '1'
  const extras = new Extras('sendkey')
  for (const [name, value] of given.scalars()) {
    if (!PLACED.has(name)) extras.add(name, value satisfies Scalar)
  }
  return present<CompatibilityMessage>({
    title: title ?? TITLE_IN_DEFAULT,
    body: isEncoded ? undefined : desp,
    ciphertext: isEncoded ? desp : undefined,
    tags: fittingTags(given.text('tags')?.split('|') ?? []),
    metadata: extras.metadata(),
    severity: undefined,
    url: undefined,
    images: undefined,
  })
}

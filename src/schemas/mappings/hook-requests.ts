// Reads what the owner of a channel sets for its hooks, as it is sent and as it is kept.

import type { Answer } from '#domain/ports'
import { isRecord, isSafeText, jsonOf, recordFrom } from '#domain/record'
import { invalid, isBlank, isLonger, noObject, readEach, readableIn } from '#src/schemas/values'
import {
  HOOK_MAPPINGS_MAX,
  HOOK_MEMBERS,
  HOOK_STATES_MAX,
  HOOK_TEXT_BYTES_MAX,
  SIGNED_KINDS,
} from './hook-schemas.ts'
import type { HookMapping, SignedKind } from './hook-schemas.ts'

/** The secrets of hooks by their kinds; in a change, '' removes one. */
type HookSecrets = Readonly<Partial<Record<SignedKind, string>>>

/** The settings of a channel's hooks. */
export interface ChannelHooks {
  readonly mappings: readonly HookMapping[]
  /** Secrets. */
  readonly secrets: HookSecrets
}

const TEXT_RULE = `must be a text of 1 to ${HOOK_TEXT_BYTES_MAX} bytes`
const STATES_RULE = `must be at most ${HOOK_STATES_MAX} texts of 1 to ${HOOK_TEXT_BYTES_MAX} bytes`

const isText = (sent: unknown): sent is string =>
  typeof sent === 'string' &&
  !isBlank(sent) &&
  isSafeText(sent) &&
  !isLonger(sent, HOOK_TEXT_BYTES_MAX)

/** The refusal of a member of a mapping; undefined for a good one. */
function wrongMember(name: string, sent: unknown, field: string): Answer<undefined> {
  if (!Object.hasOwn(HOOK_MEMBERS, name)) {
    return invalid(field, `has another member than ${Object.keys(HOOK_MEMBERS).join(', ')}`)
  }
  if (name !== 'firing' && name !== 'resolved') {
    return isText(sent) ? undefined : invalid(`${field}.${name}`, TEXT_RULE)
  }
  const isGood = Array.isArray(sent) && sent.length <= HOOK_STATES_MAX && sent.every(isText)
  return isGood ? undefined : invalid(`${field}.${name}`, STATES_RULE)
}

function readMapping(sent: unknown, field: string): Answer<HookMapping> {
  if (!isRecord(sent)) return noObject(field)
  const members = Object.entries(sent).filter(([, value]) => value !== null)
  for (const [name, value] of members) {
    const refusal = wrongMember(name, value, field)
    if (refusal !== undefined) return refusal
  }
  const mapping = Object.fromEntries(members)
  return 'title' in mapping
    ? (mapping as unknown as HookMapping) // Each member was checked.
    : invalid(`${field}.title`, TEXT_RULE)
}

/** Reads mappings as they are sent. */
export function readMappings(sent: readonly unknown[]): Answer<readonly HookMapping[]> {
  if (sent.length > HOOK_MAPPINGS_MAX) {
    return invalid('json', `must be at most ${HOOK_MAPPINGS_MAX} mappings`)
  }
  return readEach('json', sent, readMapping)
}

const isSigned = (kind: string): kind is SignedKind => SIGNED_KINDS.some((one) => one === kind)

/** Reads changes of secrets as they are sent. */
export function readSecrets(sent: Readonly<Record<string, string | null>>): Answer<HookSecrets> {
  for (const [kind, secret] of Object.entries(sent)) {
    if (!isSigned(kind)) return invalid('secrets', `are those of ${SIGNED_KINDS.join(', ')}`)
    if (secret !== null && !isText(secret)) return invalid(`secrets.${kind}`, TEXT_RULE)
  }
  return Object.fromEntries(Object.entries(sent).map(([kind, secret]) => [kind, secret ?? '']))
}

/** The hooks in stored texts, without what this version cannot read. */
export function hooksIn(mappings: string, secrets: string): ChannelHooks {
  const named = Object.entries(recordFrom(secrets))
  return {
    mappings: readableIn(jsonOf(mappings), readMapping),
    secrets: Object.fromEntries(named.filter(([kind, secret]) => isSigned(kind) && isText(secret))),
  }
}

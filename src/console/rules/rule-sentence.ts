// A rule as a sentence, and what it could not use.

import type { RuleRecord } from '#src/client/bodies'
import { isRecord } from '#domain/record'
import { labelOf, textOf } from '#console/model/faces.ts'
import type { Presentation } from '#console/model/faces.ts'
import type { Json } from '#domain/submission'
import type { ThingView } from '#src/client/view'
import type { RuleJson } from '#console/state/rule-form.ts'
import { language } from '#console/state/saved.ts'
import { facesIn } from './rule-faces.ts'
import type { FaceOfAttr } from './rule-faces.ts'
import { lackingOf } from '#console/state/rules.ts'
import { plain } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'

/** What a rule watches, as far as one line says it: `Things with door: open for 10 s`. */
export function summaryOf(rule: RuleJson, presentation: Presentation): string {
  const lasting = typeof rule['for'] === 'string' ? ` ${forText(rule['for'])}` : ''
  const when = conditionText(rule['when'], facesIn(presentation, rule['things']))
  return `${thingsText(rule['things'])}: ${when}${lasting}`
}

function thingsText(things: Json | undefined): string {
  if (!isRecord(things)) return t('allThings')
  const { ids, prefix, tag } = things as RuleJson
  if (prefix !== undefined) return t('thingsBegin', { prefix: plain(prefix) })
  return tag === undefined
    ? (ids as readonly Json[]).map(plain).join(', ')
    : t('thingsTagged', { tag: plain(tag) })
}

const UNITS = { s: 'seconds', m: 'minutes', h: 'hours', d: 'days' } as const

/** A duration as 10m in words. */
function forText(duration: string): string {
  const unit = UNITS[duration.slice(-1) as keyof typeof UNITS]
  const age = unit === undefined ? duration : t(unit, { n: duration.slice(0, -1) })
  return t('lasting', { age })
}

const SENTENCES = {
  above: 'isAbove',
  below: 'isBelow',
  inside: 'isInside',
  outside: 'isOutside',
  equals: 'isEqual',
  not_equals: 'isOther',
} as const

function conditionText(condition: Json | undefined, faceOf: FaceOfAttr): string {
  if (!isRecord(condition)) return ''
  const { attr, silent, all, any, not, cel, ...test } = condition as RuleJson
  if (silent !== undefined) return `${t('silent')} ${forText(plain(silent))}`
  if (cel !== undefined) return plain(cel)
  if (isRecord(not) && not['absent'] === true) {
    return t('hasValue', { name: nameOf(not['attr'], faceOf) })
  }
  if (not !== undefined) return t('notThat', { text: conditionText(not, faceOf) })
  const parts = Array.isArray(all) ? all : Array.isArray(any) ? any : undefined
  if (parts !== undefined) {
    const texts = parts.map((part: Json) => conditionText(part, faceOf))
    return texts.join(` ${t(parts === all ? 'and' : 'or')} `)
  }
  const name = nameOf(attr, faceOf)
  const [word = '', value] = Object.entries(test)[0] ?? []
  if (word === 'absent') return t('hasNoValue', { name })
  const face = faceOf(attr)
  if (word === 'equals' && value === true && face.on === undefined) return name
  const sentence = SENTENCES[word as keyof typeof SENTENCES]
  const limits = [value ?? null]
    .flat()
    .map((each) => textOf(face, plain(attr), each, language.value))
    .join(' – ')
  return sentence === undefined ? name : t(sentence, { name, value: limits })
}

const nameOf = (attr: Json | undefined, faceOf: FaceOfAttr): string =>
  Array.isArray(attr)
    ? attr.map((part) => plain(part as Json)).join('.')
    : labelOf(faceOf(attr), plain(attr))

/** What a rule could not use: the Things that lack a value, or the last failure. */
export function failureText(record: RuleRecord, things: ReadonlyMap<string, ThingView>): string {
  const { failures, last_failure: text = '' } = record
  const lacking = lackingOf(record, things)
  if (lacking !== undefined) return t('thingsLack', { n: lacking.count, name: lacking.name })
  return text === '' ? t('ruleFailures', { n: failures }) : t('ruleFailed', { text })
}

// Goal: every way in judges what is shown to it in one order. Each cell of outcomes.txt is one
// request: the refusal that wins, the credentials that are noted for auditors, the passwords that
// are computed, and the shares of the password budget that are taken.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { CASES } from './shown.ts'
import type { Case } from './shown.ts'
import { openSite, takeAddress, takeGuesses, takeKnown } from './site.ts'
import type { Site, SiteOptions } from './site.ts'
import { WAYS } from './ways.ts'
import type { Way } from './ways.ts'

interface Condition {
  readonly options: SiteOptions
  readonly authorization?: string
  /** What others have taken of the budget. */
  readonly begin?: (site: Site) => unknown
}

/** Of three shares, two may be of guesses. */
const BUDGET = { passwordBudget: { perAddress: 50, total: 3 } }
const GUESSES = 2

/** The columns of the tables. */
const CONDITIONS: readonly Condition[] = [
  { options: BUDGET },
  { options: { passwordBudget: { perAddress: 1, total: 40 } }, begin: takeAddress },
  { options: BUDGET, begin: takeGuesses },
  {
    options: BUDGET,
    begin: async (site) => {
      await takeGuesses(site)
      await takeKnown(site)
    },
  },
  { options: { ...BUDGET, isOpen: () => false } },
  { options: { ...BUDGET, token: 'secret' }, authorization: 'Bearer secret' },
]

const REFUSED = /^refused_total\{(\w+)\}$/

/** The codes of refusals, as often as they were counted. */
const refusedBy = ({ meter }: Site): readonly string[] =>
  [...meter.totals].flatMap(([name, count]) => {
    const code = REFUSED.exec(name)?.[1]
    return code === undefined ? [] : Array.from({ length: count }, () => code)
  })

/** The kinds of credentials in lines for auditors: p password, k key, d device key. */
const notedBy = ({ logger }: Site): string =>
  logger.lines
    .filter(({ fact }) => fact === 'a credential was refused')
    .map(({ fields }) => String(fields['credential']).replace('channel ', '').slice(0, 1))
    .join('')

/** The shares that are taken: g of a guess, s of a password that is known. */
async function sharesOf(site: Site): Promise<string> {
  const [left, limit] = await takeGuesses(site)
  return 'g'.repeat(GUESSES - left) + (limit === BUDGET.passwordBudget.total ? 's' : '')
}

/** Codes that come often, in two letters. */
const SHORT: Readonly<Record<string, string>> = {
  channel_not_found: 'nf',
  rate_limited: 'rl',
  authentication_failed: 'af',
  server_busy: 'sb',
  key_expired: 'ke',
  key_scope: 'ks',
  internal_error: 'ie',
}

const shortOf = (code: string): string => SHORT[code] ?? code
const nameOf = (part: Answer<unknown>): string => (isFault(part) ? shortOf(part.code) : 'ok')

async function cellOf(
  t: ExecutionContext,
  way: Way,
  { show, isBroken = false }: Case,
  { options, authorization, begin }: Condition,
): Promise<string> {
  const site = await openSite(t, options, authorization)
  const shown = await show(site)
  await begin?.(site)
  site.computed = 0
  site.meter.totals.clear()
  site.logger.lines.length = 0
  const parts = (await way(site, shown, isBroken)).map(nameOf)
  const refused = refusedBy(site).map(shortOf)
  const outcome = parts.length > 0 && refused.length === 0 ? parts : refused
  const computed = site.computed > 0 ? String(site.computed) : ''
  const shares = options === BUDGET && begin === undefined ? await sharesOf(site) : ''
  const effects = notedBy(site) + computed + shares
  return `${outcome.join(' ') || 'ok'} ${effects}`.trim()
}

/** The outcomes of a way in: cases with the same ones stand together. */
async function tableOf(t: ExecutionContext, way: Way): Promise<string> {
  const rows = new Map<string, string[]>()
  for (const [name, shown] of Object.entries(CASES)) {
    const cells: string[] = []
    for (const condition of CONDITIONS) cells.push(await cellOf(t, way, shown, condition))
    const row = cells.join(' | ')
    rows.set(row, [...(rows.get(row) ?? []), name])
  }
  return [...rows].map(([row, names]) => `${row}\n  ${names.join('; ')}`).join('\n')
}

const OUTCOMES = readFileSync(join(import.meta.dirname, 'outcomes.txt'), 'utf8')
const [, ...parts] = OUTCOMES.split(/^# /m)
const tables = parts.flatMap((part) => {
  const [names = '', ...table] = part.trim().split('\n')
  return names.split('; ').map((name) => [name, table.join('\n').trim()] as const)
})

for (const [name, table] of tables) {
  test(`access-checks/1: ${name}: what opens a channel and what is refused is as the table says`, async (t) => {
    const way = WAYS[name]
    if (way === undefined) return t.fail('there is no such way in')
    t.is(await tableOf(t, way), table)
  })
}

test('each way in has a table', (t) => {
  t.deepEqual(tables.map(([name]) => name).toSorted(), Object.keys(WAYS).toSorted())
})

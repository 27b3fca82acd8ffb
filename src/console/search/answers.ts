// What the gateway says of the terms of a search that the page cannot decide: silence, places and
// expressions. Asked anew every ten seconds, as time alone changes the answers.

import { useEffect, useState } from 'preact/hooks'

import type { Where } from '#domain/rules/condition'
import { second } from '#console/state/clock.ts'
import { client } from '#console/state/gateway.ts'
import { readerOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { readPages } from '#console/state/past/feed-pages.ts'
import { verdictsOf } from './verdicts.ts'
import type { Answers } from './where.ts'

const PAGE = 1_000
const PAGES_MAX = 10
const AGAIN_MS = 10_000

/** The Things of a channel that meet a condition. */
function thingsWith(channelId: string, where: Where, signal: AbortSignal) {
  const page = (cursor: string | undefined) => {
    const body = { ...readerOf(channelId), where, limit: PAGE }
    return client
      .peek()
      .thing.query({ ...body, ...(cursor !== undefined && { cursor }) }, { signal })
  }
  return readPages(page, PAGES_MAX)
}

export interface Answered {
  /** By channel. */
  readonly answers: ReadonlyMap<string, Answers>
  /** `none` until the gateway has answered, `part` where it knows more Things than were read. */
  readonly extent: 'none' | 'part' | 'whole'
  /** Why the newest answers are missing. */
  readonly failure: unknown
}

const NONE: Answered = { answers: new Map(), extent: 'none', failure: undefined }
const NOTHING_ASKED: Answered = { ...NONE, extent: 'whole' }

/** The answers of the gateway about terms; nothing is asked for none. */
export function useAnswers(channels: readonly LiveChannel[], terms: readonly Where[]): Answered {
  const wanted = JSON.stringify(terms)
  const ids = channels.map(({ id }) => id).join(' ')
  const about = `${ids} ${wanted}`
  const [answered, setAnswered] = useState({ ...NONE, about })
  const beat = terms.length === 0 ? 0 : Math.floor(second.value / AGAIN_MS)
  useEffect(() => {
    if (terms.length === 0) return undefined
    const ended = new AbortController()
    let extent: Answered['extent'] = 'whole'
    const idsWith = async (id: string, where: Where): Promise<readonly string[]> => {
      const { items, isWhole } = await thingsWith(id, where, ended.signal)
      if (!isWhole) extent = 'part'
      return items.map(({ thing_id }) => thing_id)
    }
    const reads = channels.map(
      async ({ id }) => [id, await verdictsOf(terms, (where) => idsWith(id, where))] as const,
    )
    Promise.all(reads).then(
      (answers) => setAnswered({ answers: new Map(answers), extent, failure: undefined, about }),
      (failure: unknown) =>
        ended.signal.aborted ||
        setAnswered((before) => ({ ...(before.about === about ? before : NONE), failure, about })),
    )
    return () => ended.abort()
  }, [wanted, ids, beat])
  if (terms.length === 0) return NOTHING_ASKED
  return answered.about === about ? answered : NONE
}

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

/** The ids of a channel's Things that meet a condition. */
async function idsWith(channelId: string, where: Where, signal: AbortSignal) {
  const page = (cursor: string | undefined) => {
    const body = { ...readerOf(channelId), where, limit: PAGE }
    return client
      .peek()
      .thing.query({ ...body, ...(cursor !== undefined && { cursor }) }, { signal })
  }
  return (await readPages(page, PAGES_MAX)).items.map(({ thing_id: id }) => id)
}

export interface Answered {
  /** By channel. */
  readonly answers: ReadonlyMap<string, Answers>
  /** Why the newest answers are missing. */
  readonly failure: unknown
}

const NONE: Answered = { answers: new Map(), failure: undefined }

/** The answers of the gateway about terms; nothing is asked for none. */
export function useAnswers(channels: readonly LiveChannel[], terms: readonly Where[]): Answered {
  const [answered, setAnswered] = useState(NONE)
  const wanted = JSON.stringify(terms)
  const ids = channels.map(({ id }) => id).join(' ')
  const beat = terms.length === 0 ? 0 : Math.floor(second.value / AGAIN_MS)
  useEffect(() => {
    if (terms.length === 0) return undefined
    const ended = new AbortController()
    const reads = channels.map(
      async ({ id }) =>
        [id, await verdictsOf(terms, (where) => idsWith(id, where, ended.signal))] as const,
    )
    Promise.all(reads).then(
      (answers) => setAnswered({ answers: new Map(answers), failure: undefined }),
      (failure: unknown) =>
        ended.signal.aborted || setAnswered(({ answers }) => ({ answers, failure })),
    )
    return () => ended.abort()
  }, [wanted, ids, beat])
  return terms.length === 0 ? NONE : answered
}

// The searches that a person keeps in this browser, a list for each channel.

import { searches } from '#console/state/saved.ts'

/** The oldest makes room. */
const SEARCHES_MAX = 20

/** The texts that are kept of a channel; '' stands for all channels. */
export const searchesOf = (channelId: string): readonly string[] =>
  searches.value.filter((each) => each.channelId === channelId).map(({ text }) => text)

/** Keeps a search behind the others of its channel. */
export function keepSearch(channelId: string, text: string): void {
  const own = searchesOf(channelId).filter((each) => each !== text)
  const kept = [...own, text].slice(-SEARCHES_MAX)
  const others = searches.value.filter((each) => each.channelId !== channelId)
  searches.value = [...others, ...kept.map((each) => ({ channelId, text: each }))]
}

export function forgetSearch(channelId: string, text: string): void {
  searches.value = searches.value.filter(
    (each) => each.channelId !== channelId || each.text !== text,
  )
}

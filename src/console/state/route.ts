// The place in the page, which its address has behind the #.

import { batch, signal } from '@preact/signals'

import { askedIn, hashOf, routeOf } from '#console/model/address.ts'
import type { Asked, Route } from '#console/model/address.ts'

export { CHANNEL_VIEWS, hashOf, routeOf } from '#console/model/address.ts'
export type { ChannelView, OpenRoute, Route } from '#console/model/address.ts'

export const route = signal<Route>({ view: 'start' })
/** What the address asks of the view. */
export const asked = signal<Asked>({})
/** The channel that was shown last; '' before any. */
export const lastChannelId = signal('')

/** Follows the address of the page. A secret in it is taken out of the history at once. */
export function followAddress(): void {
  addEventListener('hashchange', follow)
  follow()
}

function follow(): void {
  const wanted = askedIn(location.hash)
  const to = routeOf(location.hash)
  batch(() => {
    asked.value = wanted
    route.value = to
  })
  if ('channelId' in route.value && !('secret' in route.value)) {
    lastChannelId.value = route.value.channelId
  }
  if (route.value.view === 'open') history.replaceState(undefined, '', '#/start')
}

/** Goes to a view at once: the next key is for it. An assignment would be followed later. */
export function go(to: Route, wanted: Asked = {}): void {
  const hash = hashOf(to, wanted)
  if (hash === location.hash) return
  history.pushState(undefined, '', hash)
  follow()
}

/** Asks something else of the view that is shown, in its address; '' takes it out. */
export function ask(changes: Asked): void {
  asked.value = { ...asked.peek(), ...changes }
  history.replaceState(undefined, '', hashOf(route.peek(), asked.peek()))
}

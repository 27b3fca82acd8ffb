// The place in the page, behind the # of its address, which no browser sends anywhere.

import { signal } from '@preact/signals'

export const CHANNEL_VIEWS = ['board', 'events', 'messages', 'rules', 'send', 'channel'] as const
export type ChannelView = (typeof CHANNEL_VIEWS)[number]

/** A link with the secret of a channel, and perhaps with the gateway token. */
export interface OpenRoute {
  readonly view: 'open'
  readonly channelId: string
  readonly secret: string
  readonly token: string
}

export type Route =
  | { readonly view: 'start' | 'gateway' }
  | OpenRoute
  | { readonly view: ChannelView; readonly channelId: string }
  /** A rule without an id is one that is not put yet. */
  | { readonly view: 'thing' | 'event' | 'rule'; readonly channelId: string; readonly id: string }

/** Reads the part of an address behind its #; the start for one of no known form. */
export function routeOf(hash: string): Route {
  const [first = '', second = '', third = '', fourth = ''] = hash
    .replace(/^#\/?/, '')
    .split('/')
    .map(decoded)
  if (first === 'gateway') return { view: 'gateway' }
  if (first === 'open') return { view: 'open', channelId: second, secret: third, token: fourth }
  if (first === '' || first === 'start') return { view: 'start' }
  if (second === 'rule' || ((second === 'thing' || second === 'event') && third !== '')) {
    return { view: second, channelId: first, id: third }
  }
  const view = CHANNEL_VIEWS.find((name) => name === second) ?? 'board'
  return { view, channelId: first }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

/** The address of a route, from its # on. */
export function hashOf(route: Route): string {
  if (!('channelId' in route)) return `#/${route.view}`
  if ('secret' in route) {
    const { channelId, secret, token } = route
    return `#/open/${[channelId, secret, token].filter(Boolean).map(part).join('/')}`
  }
  const id = 'id' in route ? `/${part(route.id)}` : ''
  return `#/${part(route.channelId)}/${route.view}${id}`
}

const part = (text: string): string => encodeURIComponent(text)

export const route = signal<Route>({ view: 'start' })
/** The channel that was shown last; '' before any. */
export const lastChannelId = signal('')

/** Follows the address of the page. A secret in it is taken out of the history at once. */
export function followAddress(): void {
  const follow = (): void => {
    route.value = routeOf(location.hash)
    if ('channelId' in route.value && !('secret' in route.value)) {
      lastChannelId.value = route.value.channelId
    }
    if (route.value.view === 'open') history.replaceState(undefined, '', '#/start')
  }
  addEventListener('hashchange', follow)
  follow()
}

export function go(to: Route): void {
  location.hash = hashOf(to)
}

// The form of the address of the page behind its #, which no browser sends anywhere: a place, and
// what is asked of the view there.

export const CHANNEL_VIEWS = ['overview', 'events', 'messages', 'rules', 'send', 'channel'] as const
export type ChannelView = (typeof CHANNEL_VIEWS)[number]

/** A link with the secret of a channel, and perhaps with the gateway token. */
export interface OpenRoute {
  readonly view: 'open'
  readonly channelId: string
  readonly secret: string
  readonly token: string
}

export type Route =
  | { readonly view: 'start' | 'all' | 'gateway' }
  | OpenRoute
  | { readonly view: ChannelView | 'inspector'; readonly channelId: string }
  /** A rule without an id is one that is not put yet. */
  | { readonly view: 'thing' | 'event' | 'rule'; readonly channelId: string; readonly id: string }

/**
 * The settings of a view by name: search, order, span, tab and so on. The address has them behind
 * the place, as `#/<channel>/overview&search=pump&wall`. No secret ever does.
 */
export type Asked = Readonly<Record<string, string>>

/** Returns a view's settings from the part of an address behind its #; a name alone is 'on'. */
export function askedIn(hash: string): Asked {
  const from = hash.indexOf('&')
  const wanted = new URLSearchParams(from < 0 ? '' : hash.slice(from + 1))
  return Object.fromEntries([...wanted].map(([name, value]) => [name, value || 'on']))
}

/** Reads the part of an address behind its #; the start for one of no known form. */
export function routeOf(hash: string): Route {
  const [first = '', second = '', third = '', fourth = ''] = hash
    .replace(/^#\/?/, '')
    .replace(/&.*$/s, '')
    .split('/')
    .map(decoded)
  if (first === 'gateway' || first === 'all') return { view: first }
  if (first === 'open') return { view: 'open', channelId: second, secret: third, token: fourth }
  if (first === '' || first === 'start') return { view: 'start' }
  if (second === 'rule' || ((second === 'thing' || second === 'event') && third !== '')) {
    return { view: second, channelId: first, id: third }
  }
  if (second === 'inspector') return { view: second, channelId: first }
  const view = CHANNEL_VIEWS.find((name) => name === second) ?? 'overview'
  return { view, channelId: first }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

/** The address of a route, from its # on, and of what is asked of its view; '' is left out. */
export function hashOf(route: Route, wanted: Asked = {}): string {
  const set = Object.entries(wanted).filter(([, value]) => value !== '')
  const text = new URLSearchParams(set).toString()
  return placeOf(route) + (text === '' ? '' : `&${text}`)
}

function placeOf(route: Route): string {
  if (!('channelId' in route)) return `#/${route.view}`
  if ('secret' in route) {
    const { channelId, secret, token } = route
    return `#/open/${[channelId, secret, token].filter(Boolean).map(part).join('/')}`
  }
  const id = 'id' in route ? `/${part(route.id)}` : ''
  return `#/${part(route.channelId)}/${route.view}${id}`
}

const part = (text: string): string => encodeURIComponent(text)

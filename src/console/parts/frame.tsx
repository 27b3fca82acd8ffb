// The frame of every view: channel, views, connection, language and appearance.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

import { second } from '#console/state/clock.ts'
import { CHANNEL_VIEWS, asked, go, hashOf, route } from '#console/state/route.ts'
import type { Route } from '#console/state/route.ts'
import { channels, hasShortcuts, isKept, language, theme } from '#console/state/saved.ts'
import { connection, live, restart, wake } from '#console/state/session.ts'
import { moment, speak, t } from '#console/words/words.ts'
import { isNarrow } from './narrow.ts'
import { Choice } from './form.tsx'
import { Menu } from './menu.tsx'
import { Shortcuts, presentChannelId } from './shortcuts.tsx'

export const channelIdOf = (current: Route): string | undefined =>
  'channelId' in current && current.view !== 'open' ? current.channelId : undefined

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null)
  const place = hashOf(route.value)
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    // A person who goes to a view begins at its top, by the keyboard, too. What they type next is
    // for the view: a focus that moved later would take it away from a field there.
    main.current?.scrollTo(0, 0)
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
  }, [place])
  const skip = (event: Event): void => {
    event.preventDefault()
    main.current?.focus()
  }
  // A display on the wall has no controls.
  if (asked.value['wall'] !== undefined) {
    return (
      <main ref={main} class="wall" tabIndex={-1} id="main">
        <Notices />
        {children}
      </main>
    )
  }
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skip}>
        {t('skip')}
      </a>
      <header class="top">
        <a class="brand" href="#/start">
          <svg viewBox="0 0 64 64" aria-hidden="true">
            <circle cx="25" cy="39" r="14" />
            <path d="M38 26 56 8M43 36h17M28 21V4" />
          </svg>
          <span>Heliograph</span>
        </a>
        <Channels />
        <Pulse />
        <Looks />
      </header>
      <Views />
      {/* A view in which nothing can be used is one that the keyboard scrolls. */}
      <main ref={main} tabIndex={route.value.view === 'gateway' ? 0 : -1} id="main">
        <Notices />
        {children}
      </main>
      <Shortcuts />
    </div>
  )
}

const ALL = 'all'

function Channels() {
  if (channels.value.length === 0) return <span class="grow" />
  const { value: to } = route
  const current = to.view === 'all' ? ALL : presentChannelId()
  const options = channels.value.map(({ id, name }) => [id, name] as const)
  const all = options.length > 1 ? [[ALL, t('allChannels')] as const, ...options] : options
  const isKnown = all.some(([id]) => id === current)
  const view = 'channelId' in to ? CHANNEL_VIEWS.find((name) => name === to.view) : undefined
  return (
    <div class="channels grow">
      <Choice
        label={t('channelChoice')}
        isQuiet
        value={isKnown ? (current ?? '') : ''}
        options={isKnown ? all : [['', '—'] as const, ...all]}
        onValue={(id) => {
          if (id === ALL) go({ view: ALL })
          else if (id !== '') go({ view: view ?? 'overview', channelId: id })
        }}
      />
    </div>
  )
}

/** The state of the session: a word beside a dot. */
function Pulse() {
  const { kind } = connection.value
  if (kind === 'idle') return null
  const isOpen = kind === 'open'
  return (
    <p class={`pulse ${isOpen ? 'open' : 'away'}`} role="status">
      <span>{t(isOpen ? 'connected' : 'connecting')}</span>
    </p>
  )
}

/** How the page looks, and whether letters do something. */
const Looks = () => (
  <Menu label={t('settings')} class="looks" face={<span aria-hidden="true">Aa</span>}>
    {() => <Look />}
  </Menu>
)

const Look = () => (
  <>
    <Choice
      label={t('language')}
      value={language.value}
      options={[
        ['en', 'English'],
        ['zh-CN', '简体中文'],
      ]}
      onValue={(value) => void speak(value)}
    />
    <Choice
      label={t('theme')}
      value={theme.value}
      options={[
        ['auto', t('themeAuto')],
        ['light', t('themeLight')],
        ['dark', t('themeDark')],
      ]}
      onValue={(value) => {
        theme.value = value
      }}
    />
    <label class="check" title={t('shortcutsHint')}>
      <input
        type="checkbox"
        checked={hasShortcuts.value}
        onChange={(event) => {
          hasShortcuts.value = event.currentTarget.checked
        }}
      />
      {t('shortcuts')}
    </label>
  </>
)

/** Views that stand in the bar of a phone; the others are behind its last place. */
const BAR_VIEWS = 3

function Views() {
  const { value: current } = route
  const channelId = presentChannelId()
  const shown =
    { thing: 'overview', event: 'events', rule: 'rules', inspector: 'channel' }[
      current.view as string
    ] ?? current.view
  const links: readonly Place[] = [
    ...(channelId === undefined
      ? []
      : CHANNEL_VIEWS.map((view): Place => [view, { view, channelId }])),
    ['start', { view: 'start' }],
    ['gateway', { view: 'gateway' }],
  ]
  const isBar = isNarrow.value && links.length > BAR_VIEWS
  const behind = isBar ? links.slice(BAR_VIEWS) : []
  const item = ([name, to]: Place) => (
    <li key={name}>
      <a href={hashOf(to)} aria-current={name === shown ? 'page' : undefined}>
        {t(name)}
        {name === 'events' && channelId !== undefined && <OpenCount channelId={channelId} />}
      </a>
    </li>
  )
  return (
    <nav aria-label={t('views')}>
      <ul>
        {(isBar ? links.slice(0, BAR_VIEWS) : links).map(item)}
        {isBar && (
          <li>
            <Menu
              label={t('moreViews')}
              class="more"
              face={t('moreViews')}
              isCurrent={behind.some(([name]) => name === shown)}
            >
              {(close) => <ul onClick={close}>{behind.map(item)}</ul>}
            </Menu>
          </li>
        )}
      </ul>
    </nav>
  )
}

type Place = readonly [name: 'start' | 'gateway' | (typeof CHANNEL_VIEWS)[number], to: Route]

function OpenCount({ channelId }: { readonly channelId: string }) {
  const channel = live.value.get(channelId)
  void channel?.eventsDrawn.value
  const count = [...(channel?.events.values() ?? [])].filter(({ state }) => state === 'open').length
  return count === 0 ? null : <span class="count">{count}</span>
}

/** What a person should know about the connection and the age of what is shown. */
function Notices() {
  const state = connection.value
  const channel = live.value.get(channelIdOf(route.value) ?? '')
  const savedAt = channel?.savedAt.value
  return (
    <>
      {state.kind === 'waiting' && (
        <div class="notice" role="status">
          <p>
            {!navigator.onLine && t('offline')}{' '}
            {t('waiting', {
              seconds: Math.max(0, Math.ceil((state.untilMs - second.value) / 1_000)),
            })}{' '}
            {savedAt !== undefined && t('savedState', { time: moment(savedAt, second.value) })}
          </p>
          <button type="button" onClick={wake}>
            {t('tryNow')}
          </button>
        </div>
      )}
      {state.kind === 'replaced' && (
        <div class="notice" role="status">
          <p>{t('replaced')}</p>
          <button type="button" onClick={() => void restart()}>
            {t('useHere')}
          </button>
        </div>
      )}
      {state.kind === 'token' && route.value.view !== 'start' && (
        <div class="notice" role="status">
          <p>{t('wantsToken')}</p>
          <a class="button" href="#/start">
            {t('enterToken')}
          </a>
        </div>
      )}
      {channel?.isLost.value === true && (
        <div class="notice" role="status">
          <p>
            {t('channelLost')} {t('channelLostWhy')}
          </p>
        </div>
      )}
      {!isKept.value && (
        <div class="notice" role="status">
          <p>{t('notKept')}</p>
        </div>
      )}
    </>
  )
}

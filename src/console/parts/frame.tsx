// The frame of every view: channel, views, connection, language and appearance.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { second } from '#console/state/clock.ts'
import { CHANNEL_VIEWS, go, hashOf, lastChannelId, route } from '#console/state/route.ts'
import type { Route } from '#console/state/route.ts'
import { channels, isKept, language, theme } from '#console/state/saved.ts'
import { connection, live, restart, wake } from '#console/state/session.ts'
import { moment, t } from '#console/words/words.ts'
import { Choice } from './form.tsx'

export const channelIdOf = (current: Route): string | undefined =>
  'channelId' in current && current.view !== 'open' ? current.channelId : undefined

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null)
  const place = hashOf(route.value)
  const isFirst = useRef(true)
  useEffect(() => {
    // A person who goes to a view by the keyboard begins at its top.
    if (!isFirst.current) main.current?.focus()
    // On a phone the row of views is wider than the screen.
    const current = document.querySelector('nav [aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    isFirst.current = false
  }, [place])
  const skip = (event: Event): void => {
    event.preventDefault()
    main.current?.focus()
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
    </div>
  )
}

function Channels() {
  const current = channelIdOf(route.value) ?? lastChannelId.value
  if (channels.value.length === 0) return <span class="grow" />
  const options = channels.value.map(({ id, name }) => [id, name] as const)
  const isKnown = options.some(([id]) => id === current)
  const all = isKnown ? options : [['', '—'] as const, ...options]
  const view =
    'channelId' in route.value ? CHANNEL_VIEWS.find((name) => name === route.value.view) : undefined
  return (
    <div class="channels grow">
      <Choice
        label={t('channelChoice')}
        isQuiet
        value={isKnown ? current : ''}
        options={all}
        onValue={(id) => id !== '' && go({ view: view ?? 'board', channelId: id })}
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
      {t(isOpen ? 'connected' : 'connecting')}
    </p>
  )
}

const Looks = () => (
  <div class="looks">
    <Choice
      label={t('language')}
      isQuiet
      value={language.value}
      options={[
        ['en', 'English'],
        ['zh-CN', '简体中文'],
      ]}
      onValue={(value) => {
        language.value = value
      }}
    />
    <Choice
      label={t('theme')}
      isQuiet
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
  </div>
)

function Views() {
  const { value: current } = route
  const last = channels.value.find(({ id }) => id === lastChannelId.value) ?? channels.value[0]
  const channelId = channelIdOf(current) ?? last?.id
  const shown =
    { thing: 'board', event: 'events', rule: 'rules' }[current.view as string] ?? current.view
  const links: (readonly [
    name: 'start' | 'gateway' | (typeof CHANNEL_VIEWS)[number],
    to: Route,
  ])[] = [
    ['start', { view: 'start' }],
    ...(channelId === undefined
      ? []
      : CHANNEL_VIEWS.map((view) => [view, { view, channelId }] as const)),
    ['gateway', { view: 'gateway' }],
  ]
  return (
    <nav aria-label={t('views')}>
      <ul>
        {links.map(([name, to]) => (
          <li key={name}>
            <a href={hashOf(to)} aria-current={name === shown ? 'page' : undefined}>
              {t(name)}
              {name === 'events' && channelId !== undefined && <OpenCount channelId={channelId} />}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

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

// The first view: the channels of this browser with their verdicts, and the ways to get one more.

import { useEffect, useMemo, useState } from 'preact/hooks'

import { channelIdIn, createChannel, openChannel } from '#console/state/channels.ts'
import { proposedPassword } from '#console/state/clock.ts'
import { client, wantsToken } from '#console/state/gateway.ts'
import { asked, go, hashOf, route, routeOf } from '#console/state/route.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import type { OpenRoute } from '#console/state/route.ts'
import { channels, replacesToken, token } from '#console/state/saved.ts'
import { connection, live, restart } from '#console/state/session.ts'
import { sentenceOf, t } from '#console/words/words.ts'
import { useOpened } from '#console/overview/open-events.ts'
import { Verdict } from '#console/overview/verdict.tsx'
import { Field, Form } from '#console/parts/form.tsx'
import { Card, Problem } from '#console/parts/page.tsx'
import { Said } from '#console/parts/text.tsx'
import { Made } from './start-made.tsx'
import type { MadeProps } from './start-made.tsx'

export function Start() {
  const [isAsked, setAsked] = useState(false)
  const hasToken = token.value !== ''
  useEffect(() => {
    // Whether the gateway has a token at all is known only by asking it.
    client
      .peek()
      .profile({ repeat: false })
      .then(
        () => setAsked(false),
        (error: unknown) => setAsked(wantsToken(error)),
      )
  }, [token.value])
  const needsToken = isAsked || connection.value.kind === 'token'
  const hasChannels = channels.value.length > 0
  const [made, setMade] = useState<MadeProps>()
  if (made !== undefined) return <Made {...made} />
  return (
    <div class="start">
      <h1>{t(hasChannels ? 'startTitle' : 'welcome')}</h1>
      {!hasChannels && <p class="lead">{t('welcomeText')}</p>}
      {needsToken && <TokenForm isWrong={hasToken} />}
      {hasChannels && <Kept />}
      {!needsToken && (
        <section class="card">
          <Create onMade={setMade} />
          <details>
            <summary>{t('haveChannel')}</summary>
            <Open />
          </details>
        </section>
      )}
    </div>
  )
}

function TokenForm({ isWrong }: { readonly isWrong: boolean }) {
  const [text, setText] = useState('')
  return (
    <Card title={t('wantsToken')}>
      <Form
        button={t('tokenButton')}
        onSubmit={async () => {
          token.value = text.trim()
          try {
            await client.peek().profile({ repeat: false })
          } catch (error) {
            // The field itself says that the token is wrong.
            if (wantsToken(error)) return
            throw error
          }
          await restart()
        }}
      >
        <Field
          label={t('token')}
          value={text}
          onValue={setText}
          hint={t('tokenHint')}
          problem={isWrong ? t('tokenWrong') : undefined}
          isSecret
        />
      </Form>
    </Card>
  )
}

const Kept = () => (
  <section>
    <h2 class="unseen">{t('yourChannels')}</h2>
    <ul class="kept">
      {channels.value.map(({ id, name }) => (
        <li key={id}>
          <a href={hashOf({ view: 'overview', channelId: id })}>
            <strong>
              <Said text={name} />
            </strong>
            <code>{id}</code>
          </a>
          <Standing id={id} />
        </li>
      ))}
    </ul>
  </section>
)

/** Whether anything is wrong in a channel. */
function Standing({ id }: { readonly id: string }) {
  const channel = live.value.get(id)
  return channel === undefined ? null : <StandingOf channel={channel} />
}

function StandingOf({ channel }: { readonly channel: LiveChannel }) {
  const alone = [channel]
  return <Verdict channels={alone} opened={useOpened(alone)} isPlain />
}

/** At least as many bytes as the gateway wants of a password. */
const isPassword = (text: string): boolean => new TextEncoder().encode(text.trim()).length >= 8

interface CreateProps {
  readonly onMade: (made: MadeProps) => void
}

function Create({ onMade }: CreateProps) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState(proposedPassword)
  const [isTried, setTried] = useState(false)
  const create = (): Promise<void> | undefined => {
    setTried(true)
    if (name.trim() === '' || !isPassword(password)) return undefined
    return createChannel(name, password).then((channelId) => onMade({ channelId, name, password }))
  }
  return (
    <>
      <h2>{t('create')}</h2>
      <Form button={t('createButton')} onSubmit={create}>
        <Field
          label={t('name')}
          value={name}
          onValue={setName}
          problem={isTried && name.trim() === '' ? t('nameForm') : undefined}
          input={{ placeholder: t('namePlaceholder'), maxLength: 128 }}
        />
        <Field
          label={t('password')}
          value={password}
          onValue={setPassword}
          hint={`${t('proposedPassword')} ${t('passwordHint')}`}
          problem={isTried && !isPassword(password) ? t('passwordForm') : undefined}
          input={{ autocomplete: 'new-password', class: 'mono' }}
        />
      </Form>
    </>
  )
}

function Open() {
  const [id, setId] = useState('')
  const [secret, setSecret] = useState('')
  const [isTried, setTried] = useState(false)
  const channelId = channelIdIn(id)
  // An installed page has no address bar that would take a link.
  const take = (text: string): void => {
    const at = text.indexOf('#/open/')
    if (at < 0) setId(text)
    else go(routeOf(text.slice(at).trim()))
  }
  const open = (): Promise<void> | undefined => {
    setTried(true)
    if (channelId === undefined || !isPassword(secret)) return undefined
    return openChannel(channelId, secret.trim()).then(() => go({ view: 'overview', channelId }))
  }
  return (
    <Form button={t('openButton')} onSubmit={open}>
      <Field
        label={t('channelId')}
        value={id}
        onValue={take}
        hint={t('channelIdHint')}
        problem={isTried && channelId === undefined ? t('channelIdForm') : undefined}
        input={{ class: 'mono', autocomplete: 'username' }}
      />
      <Field
        label={t('secret')}
        value={secret}
        onValue={setSecret}
        problem={isTried && !isPassword(secret) ? t('passwordForm') : undefined}
        input={{ autocomplete: 'current-password' }}
        isSecret
      />
    </Form>
  )
}

interface LinkProps {
  readonly link: OpenRoute
}

/** A link was followed: opens its channel, and asks first where that would replace the token. */
export function OpenLink({ link }: LinkProps) {
  const [agreed, setAgreed] = useState<OpenRoute>()
  // Once for a link: a person may enter another token while its channel opens.
  const isAsked = useMemo(() => replacesToken(link.token), [link])
  if (!isAsked || link === agreed) return <Opening link={link} />
  return (
    <div class="start">
      <section class="card">
        <h1>{t('otherToken')}</h1>
        <p>{t('otherTokenText')}</p>
        <div class="actions">
          <button
            type="button"
            class="primary"
            onClick={() => (route.value = { ...link, token: '' })}
          >
            {t('keepToken')}
          </button>
          <button type="button" class="danger" onClick={() => setAgreed(link)}>
            {t('replaceToken')}
          </button>
        </div>
      </section>
    </div>
  )
}

function Opening({ link }: LinkProps) {
  const [failure, setFailure] = useState<unknown>()
  useEffect(() => {
    const channelId = channelIdIn(link.channelId) ?? link.channelId
    if (link.token !== '') token.value = link.token
    // What the link asks of the view, as a display on the wall, stays asked.
    const wanted = asked.peek()
    openChannel(channelId, link.secret).then(
      () => go({ view: 'overview', channelId }, wanted),
      setFailure,
    )
  }, [link])
  if (failure === undefined) return <p class="lead">{t('opening')}</p>
  return (
    <>
      <Problem text={`${t('linkFailed')} ${sentenceOf(failure)}`} />
      <Start />
    </>
  )
}

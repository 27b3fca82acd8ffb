// The first view: the channels of this browser, and the ways to get one more.

import { useEffect, useMemo, useState } from 'preact/hooks'

import { channelIdIn, createChannel, openChannel } from '#console/state/channels.ts'
import { client, wantsToken } from '#console/state/gateway.ts'
import { go, hashOf, route, routeOf } from '#console/state/route.ts'
import type { OpenRoute } from '#console/state/route.ts'
import { channels, replacesToken, token } from '#console/state/saved.ts'
import { connection, live, restart } from '#console/state/session.ts'
import { sentenceOf, t } from '#console/words/words.ts'
import { Field, Form } from '#console/parts/form.tsx'
import { Said } from '#console/parts/text.tsx'

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
  return (
    <div class="start">
      <h1>{t(hasChannels ? 'startTitle' : 'welcome')}</h1>
      {!hasChannels && <p class="lead">{t('welcomeText')}</p>}
      {needsToken && <TokenForm isWrong={hasToken} />}
      {hasChannels && <Kept />}
      {!needsToken && (
        <div class="cards">
          <Create />
          <Open />
        </div>
      )}
    </div>
  )
}

function TokenForm({ isWrong }: { readonly isWrong: boolean }) {
  const [text, setText] = useState('')
  return (
    <section class="card">
      <h2>{t('wantsToken')}</h2>
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
    </section>
  )
}

const Kept = () => (
  <section>
    <h2 class="unseen">{t('yourChannels')}</h2>
    <ul class="kept">
      {channels.value.map(({ id, name }) => (
        <li key={id}>
          <a href={hashOf({ view: 'board', channelId: id })}>
            <strong>
              <Said text={name} />
            </strong>
            <code>{id}</code>
            <Counts id={id} />
          </a>
        </li>
      ))}
    </ul>
  </section>
)

function Counts({ id }: { readonly id: string }) {
  const channel = live.value.get(id)
  void channel?.members.value
  void channel?.eventsDrawn.value
  const open = [...(channel?.events.values() ?? [])].filter(({ state }) => state === 'open')
  return (
    <span class="counts">
      {t('countThings', { n: channel?.things.size ?? 0 })}
      {open.length > 0 && (
        <span class="count">
          {t('openEvents')} {open.length}
        </span>
      )}
    </span>
  )
}

/** At least as many bytes as the gateway wants of a password. */
const isPassword = (text: string): boolean => new TextEncoder().encode(text.trim()).length >= 8

function Create() {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [isTried, setTried] = useState(false)
  const create = (): Promise<void> | undefined => {
    setTried(true)
    if (name.trim() === '' || !isPassword(password)) return undefined
    return createChannel(name, password).then((channelId) => go({ view: 'board', channelId }))
  }
  return (
    <section class="card">
      <h2>{t('create')}</h2>
      <p>{t('createHint')}</p>
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
          hint={t('passwordHint')}
          problem={isTried && !isPassword(password) ? t('passwordForm') : undefined}
          input={{ autocomplete: 'new-password' }}
          isSecret
        />
      </Form>
    </section>
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
    return openChannel(channelId, secret.trim()).then(() => go({ view: 'board', channelId }))
  }
  return (
    <section class="card">
      <h2>{t('open')}</h2>
      <p>{t('openHint')}</p>
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
    </section>
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
    openChannel(channelId, link.secret).then(() => go({ view: 'board', channelId }), setFailure)
  }, [link])
  if (failure === undefined) return <p class="lead">{t('opening')}</p>
  return (
    <>
      <p class="problem" role="alert">
        {t('linkFailed')} {sentenceOf(failure)}
      </p>
      <Start />
    </>
  )
}

// The feed of Messages, the newest first. Encrypted texts are opened here with a passphrase that
// never leaves the tab.

import { useEffect, useMemo, useState } from 'preact/hooks'

import { decrypt, keyFromPassphrase } from '#src/client/encryption'
import type { EncryptionKey } from '#src/client/encryption'
import { second } from '#console/state/clock.ts'
import { BLANK_DRAFT } from '#console/state/drafts.ts'
import { dayOf, listOf } from '#console/people/events.ts'
import type { FeedMessage, LiveChannel } from '#console/state/live-channel.ts'
import { ask, asked, hashOf } from '#console/state/route.ts'
import { scheduled } from '#console/state/saved.ts'
import { cancelScheduled, forgetScheduled, waitingAt } from '#console/state/scheduled.ts'
import { titleOf } from '#console/search/search.ts'
import { commandFor } from '#console/state/submissions.ts'
import { textOf } from '#console/state/text.ts'
import { dayName, moment, t } from '#console/words/words.ts'
import { Actions } from '#console/parts/actions.tsx'
import { Command } from '#console/parts/command.tsx'
import { Empty, Field, Form } from '#console/parts/form.tsx'
import { Markdown } from '#console/parts/markdown.tsx'
import { Card, useSome } from '#console/parts/page.tsx'
import { Receipts } from '#console/parts/receipts.tsx'
import { Severity } from '#console/parts/severity.tsx'
import { Sure } from '#console/parts/sure.tsx'
import { Outward, Said, hostOf } from '#console/parts/text.tsx'

const SHOWN = 60

/** Keys by channel, as long as the tab lives. */
const keys = new Map<string, EncryptionKey[]>()

export function Messages({ channel }: { readonly channel: LiveChannel }) {
  const { search: text = '' } = asked.value
  void channel.messagesDrawn.value
  const { messages } = channel
  const found = useMemo(() => messages.filter((message) => holds(message, text)), [messages, text])
  const { some, more } = useSome(found, SHOWN)
  const days = Map.groupBy(some, ({ acceptedAt }) => dayOf(acceptedAt))
  return (
    <div class="messages">
      <header class="view">
        <h1>{t('messages')}</h1>
      </header>
      {messages.length > 0 && (
        <div class="wishes" role="search">
          <Field
            label={t('search')}
            value={text}
            onValue={(search) => ask({ search })}
            input={{ type: 'search' }}
          />
        </div>
      )}
      <Waiting channel={channel} />
      {messages.length === 0 && <NoMessages channel={channel} />}
      {messages.length > 0 && found.length === 0 && <Empty title={t('noMessageFound')} />}
      {[...days].map(([day, ofDay]) => (
        <section key={day}>
          <h2 class="day">{dayName(day, second.value)}</h2>
          <ol class="feed">
            {ofDay.map((message) => (
              <Message key={message.id} message={message} channel={channel} />
            ))}
          </ol>
        </section>
      ))}
      {more}
    </div>
  )
}

function holds({ payload }: FeedMessage, text: string): boolean {
  const word = text.trim().toLowerCase()
  if (word === '') return true
  const { title, body, tags, thing_id: thing } = payload
  return [title, body, thing, ...listOf(tags)].some((part) =>
    textOf(part).toLowerCase().includes(word),
  )
}

/** Messages that this browser has scheduled, and that may still be taken back. */
function Waiting({ channel }: { readonly channel: LiveChannel }) {
  const present = second.value
  const waiting = waitingAt(channel.id, present)
  const isOver = scheduled.value.some(({ at }) => at <= present)
  useEffect(() => {
    if (isOver) forgetScheduled(present)
  }, [isOver])
  if (waiting.length === 0) return null
  return (
    <Card title={t('waitingMessages')}>
      <ul class="plain">
        {waiting.map((message) => (
          <li key={message.opId} class="waiting">
            <span>
              <strong>
                <Said text={message.title} />
              </strong>{' '}
              <time dateTime={new Date(message.at).toISOString()}>
                {t('sendsAt', { time: moment(message.at, present) })}
              </time>
            </span>
            <Sure
              button={t('takeBack')}
              question={t('takeBackSure', { title: message.title })}
              onSure={() => cancelScheduled(message, second.peek())}
              isQuiet
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface MessageProps {
  readonly message: FeedMessage
  readonly channel: LiveChannel
}

function Message({ message, channel }: MessageProps) {
  const { payload, acceptedAt } = message
  const { title, body, severity, url, images, tags, thing_id: thing } = payload
  const { ciphertext, metadata } = payload
  const thingId = textOf(thing)
  const known = channel.things.get(thingId)
  return (
    <li>
      <article>
        <header>
          <h3>
            <Said text={textOf(title)} />
          </h3>
          <Severity severity={severity === 'normal' ? '' : severity} />
          <time dateTime={new Date(acceptedAt).toISOString()}>
            {moment(acceptedAt, second.value)}
          </time>
        </header>
        {textOf(body) !== '' && (
          <div class="text">
            <Markdown text={textOf(body)} />
          </div>
        )}
        {textOf(ciphertext) !== '' && (
          <Encrypted ciphertext={textOf(ciphertext)} channel={channel} />
        )}
        <Actions metadata={metadata} />
        <ul class="extras">
          {textOf(url) !== '' && (
            <li>
              <Outward href={textOf(url)} text={t('openLink', { host: hostOf(textOf(url)) })} />
            </li>
          )}
          {listOf(images).map((image) => (
            <li key={image}>
              <Outward href={image} text={t('image', { host: hostOf(image) })} />
            </li>
          ))}
          {thingId !== '' && (
            <li>
              <a href={hashOf({ view: 'thing', channelId: channel.id, id: thingId })}>
                <Said text={known === undefined ? thingId : titleOf(known)} />
              </a>
            </li>
          )}
          {listOf(tags).map((tag) => (
            <li class="tag" key={tag}>
              <Said text={tag} />
            </li>
          ))}
        </ul>
        <Receipts channelId={channel.id} entityId={message.id} />
      </article>
    </li>
  )
}

function Encrypted({ ciphertext, channel }: { ciphertext: string; channel: LiveChannel }) {
  const [plain, setPlain] = useState<string>()
  const [passphrase, setPassphrase] = useState('')
  const [problem, setProblem] = useState<string>()
  const known = keys.get(channel.id)
  const open = async (tried: readonly EncryptionKey[]): Promise<void> => {
    try {
      setPlain(await decrypt(tried, { channelId: channel.id, ciphertext }))
    } catch {
      setProblem(t('decryptFailed'))
    }
  }
  if (plain !== undefined) {
    return (
      <div class="text">
        <Markdown text={plain} />
      </div>
    )
  }
  if (!globalThis.isSecureContext) return <p class="hint">{t('needsHttps')}</p>
  if (known !== undefined && problem === undefined) void open(known)
  return (
    <details>
      <summary>{t('encrypted')}</summary>
      <Form
        button={t('decrypt')}
        onSubmit={async () => {
          const id = ciphertext.split('.')[1] ?? ''
          const key = await keyFromPassphrase({ id, passphrase, channelId: channel.id })
          keys.set(channel.id, [...(keys.get(channel.id) ?? []), key])
          await open([key])
        }}
      >
        <Field
          label={t('passphrase')}
          value={passphrase}
          onValue={setPassphrase}
          hint={t('passphraseHint')}
          problem={problem}
          isSecret
        />
      </Form>
    </details>
  )
}

function NoMessages({ channel }: { readonly channel: LiveChannel }) {
  const draft = { ...BLANK_DRAFT, title: 'Frost tonight', body: 'Close the **roof**.' }
  return (
    <Empty title={t('noMessages')} text={t('noMessagesText')}>
      <Command text={commandFor(channel.id, 'message', draft)} />
    </Empty>
  )
}

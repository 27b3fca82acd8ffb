// The channel itself: what it holds, who may use it, its name and password, and its end.

import { useEffect, useState } from 'preact/hooks'

import {
  browserName,
  forget,
  makeKey,
  passwords,
  rememberPassword,
} from '#console/state/channels.ts'
import { second } from '#console/state/clock.ts'
import { BASE_URL, client } from '#console/state/gateway.ts'
import { readerOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { go, hashOf } from '#console/state/route.ts'
import { channels, keepChannel } from '#console/state/saved.ts'
import { moment, span, t } from '#console/words/words.ts'
import { Check, Field, Form } from '#console/parts/form.tsx'
import { Card } from '#console/parts/page.tsx'
import { Sure } from '#console/parts/sure.tsx'
import { Copy, Said } from '#console/parts/text.tsx'
import { Devices } from './channel-devices.tsx'
import { Faces } from './channel-faces.tsx'
import { Keys, Link, useRead } from './channel-keys.tsx'
import type { OwnerProps } from './channel-keys.tsx'
import { Notify } from './notify.tsx'

interface ChannelProps {
  readonly channel: LiveChannel
}

export function Channel({ channel }: ChannelProps) {
  const password = passwords.value.get(channel.id)
  return (
    <div class="channel">
      <header class="view">
        <h1>
          <Said text={channel.name.value} />
        </h1>
        <p class="sum">
          <code>{channel.id}</code>
          <Copy text={channel.id} />
          <a href={hashOf({ view: 'inspector', channelId: channel.id })}>{t('inspector')}</a>
        </p>
      </header>
      <div class="columns">
        <Facts channel={channel} />
        {password === undefined ? (
          <Unlock channel={channel} />
        ) : (
          <>
            <Link channelId={channel.id} password={password} />
            <Keys channel={channel} password={password} />
            <Devices channel={channel} password={password} />
            <Rename channel={channel} password={password} />
            <Password channel={channel} password={password} />
          </>
        )}
        <Faces channel={channel} />
        <Notify channelId={channel.id} />
        <Assistants />
        <Leave channel={channel} password={password} />
      </div>
    </div>
  )
}

function Facts({ channel }: ChannelProps) {
  const read = () => client.peek().channel.info(readerOf(channel.id))
  const { found: facts, problem } = useRead(read, [channel])
  if (facts === undefined) return <Card title={t('facts')}>{problem || t('loading')}</Card>
  return (
    <Card title={t('facts')}>
      <dl class="facts">
        <dt>{t('subscribers')}</dt>
        <dd>{t('subscribersOf', { n: facts.subscribers })}</dd>
        <dt>{t('things')}</dt>
        <dd>{facts.things}</dd>
        <dt>{t('openEventsCount')}</dt>
        <dd>{facts.open_events}</dd>
        <dt>{t('entries')}</dt>
        <dd>{facts.head_seq}</dd>
        <dt>{t('createdAt')}</dt>
        <dd>{moment(facts.created_at, second.value)}</dd>
        <dt>{t('keptMessages')}</dt>
        <dd>{t('kept', { age: span(facts.retention.messages_and_events_ms) })}</dd>
        <dt>{t('keptUpdates')}</dt>
        <dd>{t('kept', { age: span(facts.retention.thing_updates_ms) })}</dd>
        <dt>{t('keptUnused')}</dt>
        <dd>{t('kept', { age: span(facts.retention.unused_ms) })}</dd>
      </dl>
    </Card>
  )
}

function Unlock({ channel }: ChannelProps) {
  const [text, setText] = useState('')
  return (
    <Card title={t('needPassword')}>
      <p>{t('needPasswordText')}</p>
      <Form
        button={t('unlock')}
        onSubmit={async () => {
          const proof = { channel_id: channel.id, password: text.trim() }
          await client.peek().key.list({ ...proof, limit: 1 })
          rememberPassword(channel.id, text.trim())
        }}
      >
        <Field
          label={t('password')}
          value={text}
          onValue={setText}
          input={{ autocomplete: 'current-password' }}
          isSecret
        />
      </Form>
    </Card>
  )
}

function Rename({ channel, password }: OwnerProps) {
  const [name, setName] = useState(channel.name.value)
  const [isDone, setDone] = useState(false)
  const rename = async (): Promise<void> => {
    const body = { channel_id: channel.id, password, channel_name: name.trim() }
    const { channel_name } = await client.peek().channel.rename(body)
    const saved = channels.peek().find(({ id }) => id === channel.id)
    if (saved !== undefined) keepChannel({ ...saved, name: channel_name })
    channel.name.value = channel_name
    setDone(true)
  }
  return (
    <Card title={t('rename')}>
      <Form button={t('rename')} onSubmit={rename}>
        <Field label={t('name')} value={name} onValue={setName} input={{ maxLength: 128 }} />
      </Form>
      <p role="status">{isDone && t('renamed')}</p>
    </Card>
  )
}

function Password({ channel, password }: OwnerProps) {
  const [text, setText] = useState('')
  const [keepsKeys, setKeepsKeys] = useState(true)
  const [isDone, setDone] = useState(false)
  const change = async (): Promise<void> => {
    const proof = { channel_id: channel.id, password }
    const next = text.trim()
    const wish = { new_password: next, keep_keys: keepsKeys }
    await client.peek().channel.changePassword({ ...proof, ...wish })
    rememberPassword(channel.id, next)
    const saved = channels.peek().find(({ id }) => id === channel.id)
    // This browser's own key went with the others, or it has the password itself.
    if (saved !== undefined && (!keepsKeys || saved.secret === password)) {
      const secret = await makeKey(channel.id, next, { label: browserName() })
      keepChannel({ ...saved, secret })
    }
    setText('')
    setDone(true)
  }
  return (
    <Card title={t('changePassword')}>
      <Form button={t('changePassword')} onSubmit={change}>
        <Field
          label={t('newPassword')}
          value={text}
          onValue={setText}
          hint={t('passwordHint')}
          input={{ autocomplete: 'new-password' }}
          isSecret
        />
        <Check label={t('keepKeys')} isChecked={keepsKeys} onChecked={setKeepsKeys} />
      </Form>
      <p role="status">{isDone && t('passwordChanged')}</p>
    </Card>
  )
}

/** The page of assistants is the gateway's own; it is there where the gateway lets them in. */
function Assistants() {
  const [isThere, setThere] = useState(false)
  const url = `${BASE_URL}/oauth/assistants`
  useEffect(() => {
    client
      .peek()
      .profile()
      .then(
        (profile) => setThere(profile['assistants_enabled'] === true),
        () => {},
      )
  }, [])
  if (!isThere) return null
  return (
    <Card title={t('assistants')}>
      <p>{t('assistantsText')}</p>
      <p>
        <a href={url} target="_blank" rel="noopener">
          {t('toAssistants')}
        </a>
      </p>
    </Card>
  )
}

interface LeaveProps extends ChannelProps {
  readonly password: string | undefined
}

function Leave({ channel, password }: LeaveProps) {
  const [typed, setTyped] = useState('')
  const name = channel.name.value
  const end = async (): Promise<void> => {
    if (password === undefined || typed.trim() !== name.trim()) return
    await client.peek().channel.delete({ channel_id: channel.id, password })
    await forget(channel.id)
    go({ view: 'start' })
  }
  return (
    <Card title={t('forget')}>
      <p>{t('forgetText')}</p>
      <div class="actions">
        <Sure
          button={t('forget')}
          question={t('forgetText')}
          onSure={() => forget(channel.id).then(() => go({ view: 'start' }))}
        />
        {password !== undefined && (
          <Sure button={t('deleteChannel')} question={t('deleteText')} isDanger onSure={end}>
            <Field label={t('deleteConfirm', { name })} value={typed} onValue={setTyped} />
          </Sure>
        )}
      </div>
    </Card>
  )
}

// For developers: the feed of a channel as it is, refusals, an operation, and a submission again.

import { useEffect, useRef, useState } from 'preact/hooks'

import type { DataOf, FeedRecord, OperationRecord } from '#src/client/bodies'
import { every, nowMs, second } from '#console/state/clock.ts'
import { BASE_URL, client } from '#console/state/gateway.ts'
import { readTail, readerOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { REPLAYS, replayAs, submissionOf } from '#console/state/replay.ts'
import type { Replay } from '#console/state/replay.ts'
import { hashOf } from '#console/state/route.ts'
import { token } from '#console/state/saved.ts'
import { SECRET_NAME } from '#console/state/submissions.ts'
import { writable } from '#console/state/text.ts'
import { age, moment, t } from '#console/words/words.ts'
import { Choice, Field, Form } from '#console/parts/form.tsx'
import { Card, Failure } from '#console/parts/page.tsx'
import { Code, Copy, Said } from '#console/parts/text.tsx'

const READ_EVERY_MS = 2_000
const SHOWN_MAX = 100

export const Inspector = ({ channel }: { readonly channel: LiveChannel }) => (
  <div class="inspector">
    <header class="view">
      <h1>{t('inspector')}</h1>
      <p class="sum">
        <a href={hashOf({ view: 'channel', channelId: channel.id })}>{t('backToChannel')}</a>
      </p>
    </header>
    <p class="lead">{t('inspectorText')}</p>
    <div class="columns">
      <Refused channel={channel} />
      <Operation />
    </div>
    <Feed channel={channel} />
  </div>
)

/** The newest entries, read again every few seconds until they are paused. */
function Feed({ channel }: { readonly channel: LiveChannel }) {
  const [entries, setEntries] = useState<readonly FeedRecord[]>([])
  const [isPaused, setPaused] = useState(false)
  const last = useRef(0)
  const [failure, setFailure] = useState<unknown>()
  useEffect(() => {
    if (isPaused) return undefined
    const ended = new AbortController()
    let isReading = false
    const read = async (): Promise<void> => {
      if (isReading) return
      isReading = true
      const wanted = { afterSeq: last.current, count: SHOWN_MAX, signal: ended.signal }
      try {
        const more = (await readTail(channel.id, wanted)).toReversed()
        last.current = more[0]?.seq ?? last.current
        if (more.length > 0) setEntries((known) => [...more, ...known].slice(0, SHOWN_MAX))
        setFailure(undefined)
      } catch (error) {
        if (!ended.signal.aborted) setFailure(error)
      }
      isReading = false
    }
    void read()
    const stop = every(READ_EVERY_MS, () => void read())
    return () => {
      stop()
      ended.abort()
    }
  }, [channel, isPaused])
  return (
    <section>
      <div class="actions">
        <h2>{t('inspectFeed')}</h2>
        <button type="button" onClick={() => setPaused(!isPaused)}>
          {t(isPaused ? 'goOn' : 'pause')}
        </button>
      </div>
      <Failure error={failure} />
      {entries.length === 0 && <p class="hint">{t('noEntries')}</p>}
      <ul class="entries">
        {entries.map((entry) => (
          <Entry key={entry.seq} entry={entry} channelId={channel.id} />
        ))}
      </ul>
    </section>
  )
}

function Entry({ entry, channelId }: { readonly entry: FeedRecord; readonly channelId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <code>{entry.seq}</code> {entry.model}/{entry.action} <Said text={entry.entity_id} />{' '}
          <time>{moment(entry.accepted_at, second.value)}</time>
        </summary>
        {isOpen && (
          <>
            <Code text={writable(entry)} label="JSON" />
            <Again entry={entry} channelId={channelId} />
          </>
        )}
      </details>
    </li>
  )
}

function Again({ entry, channelId }: { readonly entry: FeedRecord; readonly channelId: string }) {
  const [kind, setKind] = useState<Replay>('curl')
  const place = { baseUrl: BASE_URL, channelId, hasToken: token.value !== '' }
  const text = replayAs(kind, submissionOf(entry), place)
  return (
    <>
      <Choice
        label={t('replay')}
        value={kind}
        options={REPLAYS.map((each) => [each, each] as const)}
        onValue={setKind}
      />
      <p class="hint">{t('replayHint', { name: SECRET_NAME })}</p>
      <Code text={text} label={`${t('replay')}: ${kind}`} />
      <Copy text={text} />
    </>
  )
}

type Refusals = DataOf<'/channel/refusals'>['items']

function Refused({ channel }: { readonly channel: LiveChannel }) {
  const [items, setItems] = useState<Refusals>([])
  useEffect(() => {
    const ended = new AbortController()
    const read = (): void =>
      void client
        .peek()
        .channel.refusals(readerOf(channel.id), { signal: ended.signal })
        .then(
          (answer) => setItems(answer.items),
          () => {},
        )
    read()
    const stop = every(READ_EVERY_MS, read)
    return () => {
      stop()
      ended.abort()
    }
  }, [channel])
  return (
    <Card title={t('refusalsOf')}>
      {items.length === 0 && <p class="hint">{t('noRefusalsOf')}</p>}
      <ul class="entries">
        {items.map(({ model, action, error_code: code, error, detail, count, last_at: at }) => (
          <li key={`${model} ${action} ${code} ${detail ?? ''}`}>
            <code>
              {model}/{action}
            </code>{' '}
            <strong>{code}</strong>
            <p>
              <Said text={detail ?? error} />
            </p>
            <p class="hint">{t('refusedTimes', { n: count, age: age(nowMs() - at) })}</p>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Operation() {
  const [id, setId] = useState('')
  const [found, setFound] = useState<OperationRecord>()
  const find = (): Promise<void> | undefined => {
    setFound(undefined)
    return id.trim() === '' ? undefined : client.peek().status(id.trim()).then(setFound)
  }
  return (
    <Card title={t('operation')}>
      <Form button={t('findOperation')} onSubmit={find}>
        <Field label={t('operationId')} value={id} onValue={setId} input={{ class: 'mono' }} />
      </Form>
      {found !== undefined && <Code text={writable(found)} label={t('operation')} />}
    </Card>
  )
}

// Acknowledge and Snooze: the buttons of Events that are open, and who has one.

import { useState } from 'preact/hooks'

import type { EventView } from '#src/client/view'
import { SNOOZES, acknowledgementOf, snoozeText, takeOpen } from '#console/people/acknowledge.ts'
import type { Snooze } from '#console/people/acknowledge.ts'
import { nowMs, second } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { acknowledge } from '#console/state/submissions.ts'
import { visible } from '#console/state/text.ts'
import { moment, sentenceOf, t } from '#console/words/words.ts'
import { Dialog } from './dialog.tsx'
import { Choice, Field, Form } from './form.tsx'
import { Said } from './text.tsx'

interface AcknowledgeProps {
  readonly channel: LiveChannel
  readonly events: readonly EventView[]
  /** What the Events are about. */
  readonly title: string
}

/** The buttons for one Event or some of them; nothing where all are closed. */
export function Acknowledge({ channel, events, title }: AcknowledgeProps) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [isAsking, setAsking] = useState(false)
  if (events.every(({ state }) => state !== 'open')) return null
  const about = visible(title)
  const take = async (): Promise<void> => {
    setBusy(true)
    setFailure(undefined)
    await takeOpen(events, (id) => acknowledge(channel.id, id)).catch((error: unknown) =>
      setFailure(sentenceOf(error)),
    )
    setBusy(false)
  }
  return (
    <span class="acknowledge">
      <button
        type="button"
        disabled={isBusy}
        aria-label={t('acknowledgeOf', { title: about })}
        onClick={() => void take()}
      >
        {t('acknowledge')}
      </button>
      <button
        type="button"
        aria-label={t('snoozeOf', { title: about })}
        aria-haspopup="dialog"
        onClick={() => setAsking(true)}
      >
        {t('snooze')}
      </button>
      {failure !== undefined && (
        <span class="problem" role="alert">
          {failure}
        </span>
      )}
      {isAsking && (
        <SnoozeDialog {...{ channel, events, title }} onClose={() => setAsking(false)} />
      )}
    </span>
  )
}

const SNOOZE_WORDS = {
  '30m': 'snooze30m',
  '1h': 'snooze1h',
  '8h': 'snooze8h',
  morning: 'snoozeMorning',
  own: 'snoozeOwn',
  good: 'snoozeGood',
} as const

interface SnoozeProps extends AcknowledgeProps {
  readonly onClose: () => void
}

function SnoozeDialog({ channel, events, title, onClose }: SnoozeProps) {
  const [snooze, setSnooze] = useState<Snooze>('1h')
  const [own, setOwn] = useState('')
  const [note, setNote] = useState('')
  const [isWrong, setWrong] = useState(false)
  const take = async (): Promise<void> => {
    const duration = snoozeText(snooze, own, nowMs())
    setWrong(duration === undefined)
    if (duration === undefined) return
    const wish = { note, snooze: duration }
    await takeOpen(events, (id) => acknowledge(channel.id, id, wish))
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form button={t(snooze === 'good' ? 'acknowledge' : 'snooze')} onSubmit={take}>
        <Choice<Snooze>
          label={t('snoozeFor')}
          value={snooze}
          options={SNOOZES.map((name) => [name, t(SNOOZE_WORDS[name])] as const)}
          onValue={setSnooze}
        />
        {snooze === 'own' && (
          <Field
            label={t('duration')}
            value={own}
            onValue={setOwn}
            hint={t('snoozeOwnHint')}
            problem={isWrong ? t('snoozeForm') : undefined}
            input={{ class: 'mono', placeholder: '2h' }}
          />
        )}
        <Field
          label={t('note')}
          value={note}
          onValue={setNote}
          hint={t('noteHint')}
          input={{ maxLength: 160 }}
        />
      </Form>
    </Dialog>
  )
}

/** Who has an Event, and until when it sleeps; nothing while nobody has it. */
export function Holder({ event }: { readonly event: EventView }) {
  const held = acknowledgementOf(event, second.value)
  if (held === undefined) return null
  const who = held.by === '' ? t('somebody') : held.by
  const text =
    held.until === undefined
      ? t('acknowledgedBy', { who })
      : t(held.by === '' ? 'snoozedUntil' : 'snoozedBy', {
          who,
          time: moment(held.until, second.value),
        })
  return (
    <span class="holder">
      <Said text={text} />
    </span>
  )
}

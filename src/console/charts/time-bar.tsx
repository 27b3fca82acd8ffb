// The span of time that the charts below show.

import { useState } from 'preact/hooks'

import { nowMs, second } from '#console/state/clock.ts'
import { pan, setSpan, span, zoom } from '#console/state/past/pointed.ts'
import { SPANS, beginningOf, endOf } from '#console/state/past/span.ts'
import { moment, t } from '#console/words/words.ts'
import { Field, Form } from '#console/parts/form.tsx'

const NAMES = ['hour', 'day', 'week', 'month', 'year'] as const

export function TimeBar() {
  const { lengthMs, toMs } = span.value
  const [isExact, setExact] = useState(false)
  const isLive = toMs === undefined
  const from = moment(beginningOf(span.value, second.value), second.value)
  const to = isLive ? t('present') : moment(toMs, second.value)
  return (
    <div class="time-bar" role="group" aria-label={t('since')}>
      <div class="joined">
        {NAMES.map((name) => (
          <button
            type="button"
            key={name}
            aria-pressed={isLive && lengthMs === SPANS[name]}
            onClick={() => setSpan({ lengthMs: SPANS[name] })}
          >
            {t(name)}
          </button>
        ))}
      </div>
      <div class="joined">
        <Move word="earlier" sign="‹" onClick={() => pan(-0.5)} />
        <Move word="later" sign="›" isOff={isLive} onClick={() => pan(0.5)} />
        <Move word="zoomOut" sign="−" onClick={() => zoom(2, isLive ? 1 : 0.5)} />
        <Move word="zoomIn" sign="+" onClick={() => zoom(0.5, isLive ? 1 : 0.5)} />
      </div>
      <button
        type="button"
        class="quiet"
        aria-expanded={isExact}
        onClick={() => setExact(!isExact)}
      >
        {from} – {to}
      </button>
      {isExact && <Exact onEnd={() => setExact(false)} />}
    </div>
  )
}

interface MoveProps {
  readonly word: 'earlier' | 'later' | 'zoomOut' | 'zoomIn'
  readonly sign: string
  readonly isOff?: boolean
  readonly onClick: () => void
}

const Move = ({ word, sign, isOff = false, onClick }: MoveProps) => (
  <button type="button" aria-label={t(word)} title={t(word)} disabled={isOff} onClick={onClick}>
    {sign}
  </button>
)

const MINUTE_MS = 60_000

/** A time as the field has it: by the clock of the device. */
const localText = (ms: number): string =>
  new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)

function Exact({ onEnd }: { readonly onEnd: () => void }) {
  const present = nowMs()
  const [from, setFrom] = useState(localText(beginningOf(span.peek(), present)))
  const [to, setTo] = useState(localText(endOf(span.peek(), present)))
  const [isWrong, setWrong] = useState(false)
  const show = (): undefined => {
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
    if (!(fromMs < toMs)) {
      setWrong(true)
      return undefined
    }
    setSpan({ lengthMs: toMs - fromMs, toMs: toMs < nowMs() ? toMs : undefined })
    onEnd()
    return undefined
  }
  const input = { type: 'datetime-local' } as const
  return (
    <Form button={t('showSpan')} onSubmit={show}>
      <Field label={t('spanFrom')} value={from} onValue={setFrom} input={input} />
      <Field
        label={t('spanTo')}
        value={to}
        onValue={setTo}
        input={input}
        problem={isWrong ? t('spanForm') : undefined}
      />
    </Form>
  )
}

// How a channel shows the values of its Things, and the form that says so.

import { useState } from 'preact/hooks'

import type { Face, Presentation, PresentedThings } from '#console/model/faces.ts'
import {
  NUMBERS,
  TEXTS,
  changedFace,
  isNumber,
  ownFace,
  withFace,
  without,
} from '#console/model/own-faces.ts'
import type { Written } from '#console/model/own-faces.ts'
import { changePresentation, ownOf } from '#console/state/history.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { visible } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'
import { Check, Choice, Field, Form } from '#console/parts/form.tsx'
import { Card } from '#console/parts/page.tsx'

const WORDS = {
  label: 'faceLabel',
  unit: 'faceUnit',
  on: 'faceOn',
  off: 'faceOff',
  min: 'faceMin',
  max: 'faceMax',
  decimals: 'faceDecimals',
  order: 'faceOrder',
} as const
/** Which face the form is about. */
interface Edited {
  readonly scope: Scope
  readonly place: string
  readonly attr: string
}

const NOTHING: Edited = { scope: 'all', place: '', attr: '' }

export function Faces({ channel }: { readonly channel: LiveChannel }) {
  const [edited, setEdited] = useState(NOTHING)
  const own = ownOf(channel)
  const said = channel.presentation.value.slice(0, channel.presentation.value.length - own.length)
  const rows = (entries: Presentation, isOwn: boolean) =>
    entries.flatMap(({ things, attrs }) =>
      Object.entries(attrs).map(([attr, face]) => (
        <li key={`${isOwn} ${JSON.stringify(things)} ${attr}`}>
          <strong>
            <bdi>{visible(attr)}</bdi>
          </strong>
          <span class="hint">
            {isOwn ? placeText(things) : t('faceSaid')} · <bdi>{visible(faceText(face))}</bdi>
          </span>
          {isOwn && (
            <>
              <button type="button" class="quiet" onClick={() => setEdited(editing(things, attr))}>
                {t('faceChange')}
              </button>
              <button
                type="button"
                class="quiet"
                onClick={() =>
                  void changePresentation(channel, (now) => without(now, things, attr)).catch(
                    () => {},
                  )
                }
              >
                {t('remove')}
              </button>
            </>
          )}
        </li>
      )),
    )
  return (
    <Card title={t('faces')}>
      <p>{t('facesText')}</p>
      {channel.presentation.value.length === 0 && <p class="hint">{t('noFaces')}</p>}
      <ul class="keys">
        {rows(said, false)}
        {rows(own, true)}
      </ul>
      <FaceForm channel={channel} own={own} edited={edited} onEdited={setEdited} />
    </Card>
  )
}

const editing = ({ prefix, tag }: PresentedThings['things'], attr: string): Edited => ({
  scope: prefix !== undefined ? 'prefix' : tag !== undefined ? 'tag' : 'all',
  place: prefix ?? tag ?? '',
  attr,
})

function placeText({ prefix, tag }: PresentedThings['things']): string {
  if (prefix !== undefined) return t('faceOfPrefix', { text: visible(prefix) })
  return tag === undefined ? t('faceOfAll') : t('faceOfTag', { text: visible(tag) })
}

const faceText = (face: Face): string =>
  Object.entries(face)
    .map(([name, value]) => (name === 'hidden' ? t('faceHidden') : String(value)))
    .join(', ')

type Scope = 'all' | 'prefix' | 'tag'

interface FaceFormProps {
  readonly channel: LiveChannel
  readonly own: Presentation
  readonly edited: Edited
  readonly onEdited: (edited: Edited) => void
}

function FaceForm({ channel, own, edited, onEdited }: FaceFormProps) {
  const [written, setWritten] = useState<Written>({})
  const [hides, setHides] = useState<boolean>()
  const { scope, place } = edited
  const attr = edited.attr.trim()
  // The gateway takes no empty prefix: without one the entry is of every Thing.
  const things = scope === 'all' || place.trim() === '' ? {} : { [scope]: place.trim() }
  const known = ownFace(own, things, attr)
  const isHidden = hides ?? known.hidden === true
  const isWrong = (name: keyof Written): boolean =>
    isNumber(name) && Number.isNaN(Number(written[name] ?? 0))
  const forget = (): void => {
    setWritten({})
    setHides(undefined)
  }
  const about = (next: Partial<Edited>): void => {
    forget()
    onEdited({ ...edited, ...next })
  }
  const save = async (): Promise<void> => {
    if (attr === '' || NUMBERS.some(isWrong)) return
    await changePresentation(channel, (now) =>
      withFace(now, things, attr, changedFace(ownFace(now, things, attr), written, isHidden)),
    )
    forget()
    onEdited(NOTHING)
  }
  return (
    <Form button={t('faceSave')} onSubmit={save}>
      <div class="face-form">
        <Choice<Scope>
          label={t('facePlace')}
          value={scope}
          options={[
            ['all', t('scopeAll')],
            ['prefix', t('scopePrefix')],
            ['tag', t('scopeTag')],
          ]}
          onValue={(value) => about({ scope: value })}
        />
        {scope !== 'all' && (
          <Field
            label={t('facePlaceText')}
            value={place}
            onValue={(text) => about({ place: text })}
          />
        )}
        <Field label={t('attr')} value={edited.attr} onValue={(text) => about({ attr: text })} />
        {[...TEXTS, ...NUMBERS].map((name) => (
          <Field
            key={name}
            label={t(WORDS[name])}
            value={written[name] ?? String(known[name] ?? '')}
            onValue={(text) => setWritten({ ...written, [name]: text })}
            problem={isWrong(name) ? t('faceNumber') : undefined}
          />
        ))}
        <Check label={t('faceHidden')} isChecked={isHidden} onChecked={setHides} />
      </div>
    </Form>
  )
}

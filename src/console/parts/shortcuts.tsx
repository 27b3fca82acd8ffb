// Keys of the whole page: / searches, g and a letter goes to a view, Ctrl-K jumps to a Thing.

import { useLayoutEffect, useState } from 'preact/hooks'

import { go, lastChannelId, route } from '#console/state/route.ts'
import type { ChannelView } from '#console/state/route.ts'
import { channels, hasShortcuts } from '#console/state/saved.ts'
import { live } from '#console/state/session.ts'
import { titleOf } from '#console/search/search.ts'
import { visible } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'
import { Dialog } from './dialog.tsx'
import { Field } from './form.tsx'

const VIEWS: Readonly<Record<string, ChannelView>> = {
  o: 'overview',
  e: 'events',
  m: 'messages',
  r: 'rules',
  s: 'send',
  c: 'channel',
}
/** A letter counts as the second one for so long. */
const SECOND_KEY_MS = 1_500
const FOUND_MAX = 12

const isWritten = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')

/** The channel that is shown, or the one that was shown last. */
export function presentChannelId(): string | undefined {
  const { value: current } = route
  if ('channelId' in current && current.view !== 'open') return current.channelId
  const last = channels.value.find(({ id }) => id === lastChannelId.value) ?? channels.value[0]
  return last?.id
}

function goToView(key: string): void {
  const view = VIEWS[key]
  const channelId = presentChannelId()
  if (view !== undefined && channelId !== undefined) go({ view, channelId })
}

export function Shortcuts() {
  const [isJumping, setJumping] = useState(false)
  useLayoutEffect(() => {
    let firstAt = -Infinity
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target, timeStamp } = event
      if (key.toLowerCase() === 'k' && (ctrlKey || metaKey)) {
        event.preventDefault()
        setJumping(true)
        return
      }
      if (!hasShortcuts.peek() || ctrlKey || metaKey || altKey || isWritten(target)) return
      // When a key was pressed, not when a busy page comes to it.
      if (timeStamp - firstAt < SECOND_KEY_MS) goToView(key)
      firstAt = key === 'g' ? timeStamp : -Infinity
      if (key !== '/') return
      event.preventDefault()
      document
        .querySelector<HTMLElement>('main [role="search"] input, main input[type="search"]')
        ?.focus()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return isJumping ? <Jump onClose={() => setJumping(false)} /> : null
}

/** Finds a Thing of any channel by its id or its title. */
function Jump({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const found = thingsLike(text)
  return (
    <Dialog title={t('jumpTo')} onClose={onClose}>
      <form
        class="jump"
        onSubmit={(event) => {
          event.preventDefault()
          const [first] = found
          if (first === undefined) return
          go({ view: 'thing', channelId: first.channelId, id: first.id })
          onClose()
        }}
      >
        <Field
          label={t('jumpHint')}
          value={text}
          onValue={setText}
          input={{ type: 'search', autofocus: true }}
        />
        <ul>
          {found.map(({ channelId, id, title }) => (
            <li key={`${channelId} ${id}`}>
              <a href={`#/${channelId}/thing/${encodeURIComponent(id)}`} onClick={onClose}>
                <bdi>{visible(title)}</bdi> <code>{id}</code>
              </a>
            </li>
          ))}
        </ul>
      </form>
    </Dialog>
  )
}

function thingsLike(text: string) {
  const wanted = text.trim().toLowerCase()
  const found: { readonly channelId: string; readonly id: string; readonly title: string }[] = []
  if (wanted === '') return found
  for (const channel of live.value.values()) {
    for (const thing of channel.things.values()) {
      const title = titleOf(thing)
      const isLike = thing.id.toLowerCase().includes(wanted) || title.toLowerCase().includes(wanted)
      if (isLike) found.push({ channelId: channel.id, id: thing.id, title })
      if (found.length >= FOUND_MAX) return found
    }
  }
  return found
}

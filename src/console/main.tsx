// The page: reads its address, keeps the session, and shows a view.

import 'look.css'
import './style/page.css'
import './style/views.css'
import './style/thing.css'
import './style/overview.css'
import './style/people.css'

import { effect } from '@preact/signals'
import { render } from 'preact'

import { Frame, channelIdOf } from './parts/frame.tsx'
import { Empty } from './parts/form.tsx'
import { later } from './parts/later.tsx'
import { Overview } from './overview/overview.tsx'
import { keepWorker } from './state/worker.ts'
import { asked, followAddress, route } from './state/route.ts'
import { language, theme } from './state/saved.ts'
import { keepSession, live } from './state/session.ts'
import { Events } from './views/events.tsx'
import { Messages } from './views/messages.tsx'
import { Rules } from './views/rules.tsx'
import { Send } from './views/send.tsx'
import { OpenLink, Start } from './views/start.tsx'
import { speak, t } from './words/words.ts'

// Two parts and no more: many small ones are compressed badly.
const charted = () => import('./views/charted.ts')
const seldom = () => import('./views/seldom.ts')
const EventPage = later(async () => (await charted()).EventPage)
const Thing = later(async () => (await charted()).Thing)
const Channel = later(async () => (await seldom()).Channel)
const Gateway = later(async () => (await seldom()).Gateway)
const Inspector = later(async () => (await seldom()).Inspector)
const Rule = later(async () => (await seldom()).Rule)

function View() {
  const { value: to } = route
  if (to.view === 'start') return <Start />
  if (to.view === 'open') return <OpenLink link={to} />
  const channel = live.value.get(channelIdOf(to) ?? '')
  if (to.view === 'all') return <Overview channels={[...live.value.values()]} key="all" />
  if (!('channelId' in to)) return <Gateway />
  if (channel === undefined) {
    return (
      <Empty title={t('unknownChannel')} text={t('unknownChannelHint')}>
        <a href="#/start">{t('addChannel')}</a>
      </Empty>
    )
  }
  switch (to.view) {
    case 'overview':
      return <Overview channels={[channel]} key={channel.id} />
    case 'events':
      return <Events channel={channel} />
    case 'event':
      return <EventPage channel={channel} id={to.id} key={to.id} />
    case 'messages':
      return <Messages channel={channel} />
    case 'rules':
      return <Rules channel={channel} />
    case 'rule':
      return <Rule channel={channel} id={to.id} key={to.id} />
    case 'send':
      return <Send channel={channel} key={channel.id} />
    case 'channel':
      return <Channel channel={channel} key={channel.id} />
    case 'inspector':
      return <Inspector channel={channel} key={channel.id} />
    case 'thing':
      return <Thing channel={channel} id={to.id} key={to.id} />
  }
}

effect(() => {
  document.documentElement.lang = language.value
  // A display on the wall is dark, whatever this browser likes.
  const isWall = asked.value['wall'] !== undefined
  document.documentElement.dataset['theme'] = isWall ? 'dark' : theme.value
})
effect(() => {
  const channel = live.value.get(channelIdOf(route.value) ?? '')
  document.title = channel === undefined ? 'Heliograph' : `${channel.name.value} · Heliograph`
})

await speak(language.peek())
followAddress()
keepSession()
keepWorker()
const page = document.getElementById('page')
if (page !== null) {
  render(
    <Frame>
      <View />
    </Frame>,
    page,
  )
}

// The page: reads its address, keeps the session, and shows a view.

import 'uplot/dist/uPlot.min.css'
import 'look.css'
import './style/page.css'
import './style/views.css'

import { effect } from '@preact/signals'
import { render } from 'preact'

import { Frame, channelIdOf } from './parts/frame.tsx'
import { Empty } from './parts/form.tsx'
import { keepWorker } from './state/worker.ts'
import { followAddress, route } from './state/route.ts'
import { language, theme } from './state/saved.ts'
import { keepSession, live } from './state/session.ts'
import { Board } from './views/board.tsx'
import { Channel } from './views/channel.tsx'
import { EventPage } from './views/event.tsx'
import { Events } from './views/events.tsx'
import { Gateway } from './views/gateway.tsx'
import { Messages } from './views/messages.tsx'
import { Rule } from './views/rule.tsx'
import { Rules } from './views/rules.tsx'
import { Send } from './views/send.tsx'
import { OpenLink, Start } from './views/start.tsx'
import { Thing } from './views/thing.tsx'
import { t } from './words/words.ts'

function View() {
  const { value: to } = route
  if (to.view === 'start') return <Start />
  if (to.view === 'open') return <OpenLink link={to} />
  const channel = live.value.get(channelIdOf(to) ?? '')
  if (!('channelId' in to)) return <Gateway />
  if (channel === undefined) {
    return (
      <Empty title={t('unknownChannel')} text={t('unknownChannelHint')}>
        <a href="#/start">{t('addChannel')}</a>
      </Empty>
    )
  }
  switch (to.view) {
    case 'board':
      return <Board channel={channel} />
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
    case 'thing':
      return <Thing channel={channel} id={to.id} key={to.id} />
  }
}

effect(() => {
  document.documentElement.lang = language.value
  document.documentElement.dataset['theme'] = theme.value
})
effect(() => {
  const channel = live.value.get(channelIdOf(route.value) ?? '')
  document.title = channel === undefined ? 'Heliograph' : `${channel.name.value} · Heliograph`
})

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

// Goal: pushes to a real browser, from the button of the console to the click on a notification.
// Method: Firefox with a stand-in push service, a gateway process that pushes to it.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createClient } from '#src/client/client'
import { PASSWORD } from '#test/support/device'
import { Firefox } from '#test/support/firefox'
import { FirefoxPushService } from '#test/support/firefox-push-service'
import { TOKEN, startGateway, until } from '#test/support/gateway'

/** Presses the button of a name once it is there. */
const press = (name: string): string => `
  const found = () => [...document.querySelectorAll('button')]
    .find(({ textContent }) => textContent === ${JSON.stringify(name)})
  while (found() === undefined) await new Promise(requestAnimationFrame)
  found().click()`

/** The notifications that are shown: their titles, and the places that they lead to. */
const SHOWN = `const { ready } = navigator.serviceWorker
  return (await (await ready).getNotifications()).map(({ title, data }) => [title, data.hash])`

/** Clicks on the only notification as a person does. */
const CLICK = `
  const found = () => [...Services.wm.getEnumerator('alert:alert')][0]
  while (found()?.document.readyState !== 'complete') await new Promise((again) => setTimeout(again, 20))
  found().onAlertClick()`

const addressOf = (firefox: Firefox): Promise<unknown> => firefox.inPage('return location.hash')

test('Firefox subscribes, shows what is pushed, replaces it, opens the Event, and ends', async (t) => {
  t.timeout(240_000)
  const service = await FirefoxPushService.start(t)
  const firefox = await Firefox.open(t, service.url)
  if (firefox === undefined) return
  const gateway = await startGateway(t, {
    env: {
      SERVICE_WEBPUSH_SUBJECT: 'mailto:push@gateway.example',
      SERVICE_WEBPUSH_PRIVATE_NETWORKS: '127.0.0.1',
    },
  })
  const { channel, event, message, status } = createClient(gateway)
  const { channel_id } = await channel.create({ channel_name: 'Greenhouse', password: PASSWORD })
  const proof = { channel_id, password: PASSWORD }
  await firefox.goto(`${gateway.baseUrl}/console/#/open/${channel_id}/${PASSWORD}/${TOKEN}`)
  await until(
    () => addressOf(firefox),
    (hash) => hash === `#/${channel_id}/board`,
  )
  await firefox.inPage(`location.hash = '#/${channel_id}/channel'; ${press('Notify me here')}`)
  await until(
    () => firefox.inPage(`return document.body.innerText.includes('Stop notifications here')`),
    (isOn) => isOn === true,
  )

  // Those that are critical stay until a person looks: nothing but a replacement takes one away.
  const at = { event_time: Date.now(), severity: 'critical' }
  const { event_id } = await event.create({ ...proof, ...at, title: 'Pressure too low' })
  const place = `#/${channel_id}/event/${event_id}`
  await shows(t, firefox, [['Pressure too low', place]])
  await event.update({ ...proof, ...at, event_id, title: 'Pressure is falling' })
  await shows(t, firefox, [['Pressure is falling', place]])
  await until(
    () => Promise.resolve(service.acknowledged),
    (count) => count === 2,
  )
  const topics = new Set(service.taken.map(({ headers }) => headers['topic']))
  t.is(topics.size, 1, 'the later one replaces one that waits, too')

  await firefox.inBrowser(CLICK)
  await until(
    () => addressOf(firefox),
    (hash) => hash === place,
  )

  // A subscription that is gone ends with the push that finds it so.
  service.pushes.answer = () => ({ status: 410 })
  const ended = async (title: string): Promise<string> => {
    const { op_id } = await message.send({ ...proof, title })
    const found = await until(
      () => status(op_id),
      (operation) => /^(sent|failed)$/.test(operation.status),
    )
    return found.status
  }
  t.is(await ended('to nobody'), 'failed')
  const asked = service.pushes.requests
  await ended('after it')
  t.is(service.pushes.requests, asked, 'it is not asked again')
})

async function shows(t: ExecutionContext, firefox: Firefox, wanted: unknown): Promise<void> {
  const isWanted = (found: unknown): boolean => JSON.stringify(found) === JSON.stringify(wanted)
  t.deepEqual(await until(() => firefox.inPage(SHOWN), isWanted), wanted)
}

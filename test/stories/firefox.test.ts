// Goal: pushes to a real browser, from the button of the console to the click on a notification, and
// to the press on a button of it.
// Method: Firefox with a stand-in push service, gateway processes that push to it: one after the
// other over one directory, each with a clock that is further ahead. Firefox's own windows draw no
// buttons of a notification: a press is told to Firefox as the desktop tells it.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createClient } from '#src/client/client'
import { TEST_MS } from '#test/support/bounds'
import { PASSWORD } from '#test/support/device'
import { Firefox } from '#test/support/firefox'
import { FirefoxPushService } from '#test/support/firefox-push-service'
import { freePort } from '#test/support/free-port'
import { TOKEN, aheadBy, startGateway, temporaryFolder, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

/** Presses the button of a name once it is there. */
const press = (name: string): string => `
  const found = () => [...document.querySelectorAll('button')]
    .find(({ textContent }) => textContent === ${JSON.stringify(name)})
  while (found() === undefined) await new Promise(requestAnimationFrame)
  found().click()`

/** The notifications that are shown: their titles, and the places that they lead to. */
const SHOWN = `const { ready } = navigator.serviceWorker
  return (await (await ready).getNotifications()).map(({ title, data }) => [title, data.hash])`

/** The notifications that are shown: tag and text. */
const BODIES = `const { ready } = navigator.serviceWorker
  return (await (await ready).getNotifications()).map(({ tag, body }) => tag + ' ' + body)`

const MINUTE_MS = 60_000

/** Clicks on the only notification as a person does. */
const CLICK = `
  const found = () => [...Services.wm.getEnumerator('alert:alert')][0]
  while (found()?.document.readyState !== 'complete') await new Promise((again) => setTimeout(again, 20))
  found().onAlertClick()`

/**
 * Presses a button of the notification with a title, as the window of a desktop that draws buttons
 * would.
 */
const pressOn = (title: string, action: string) => `
  const windows = () => [...Services.wm.getEnumerator('alert:alert')]
  const found = () => windows().find(({ document }) =>
    document.getElementById('alertTitleLabel')?.getAttribute('value') === ${JSON.stringify(title)})
  while (found() === undefined) await new Promise((again) => setTimeout(again, 20))
  const { gAlertListener, gAlertCookie } = found()
  const QueryInterface = ChromeUtils.generateQI(['nsIAlertAction'])
  const pressed = { QueryInterface, action: ${JSON.stringify(action)} }
  gAlertListener.observe(pressed, 'alertclickcallback', gAlertCookie)`

const addressOf = (firefox: Firefox): Promise<unknown> => firefox.inPage('return location.hash')

test('Firefox subscribes, shows what is pushed, opens it, acknowledges it, and ends', async (t) => {
  t.timeout(TEST_MS)
  const service = await FirefoxPushService.start(t)
  const firefox = await Firefox.open(t, service.url)
  if (firefox === undefined) return
  const directory = await temporaryFolder(t)
  const port = await freePort(t)
  const start = (aheadMs: number): Promise<Gateway> =>
    startGateway(t, {
      directory,
      env: {
        SERVICE_HTTP_ADDR: `127.0.0.1:${port}`,
        SERVICE_WEBPUSH_SUBJECT: 'mailto:push@gateway.example',
        SERVICE_WEBPUSH_PRIVATE_NETWORKS: '127.0.0.1',
        ...aheadBy(aheadMs),
      },
    })
  const gateway = await start(0)
  const { channel, event, message, status } = createClient(gateway)
  const { channel_id } = await channel.create({ channel_name: 'Greenhouse', password: PASSWORD })
  const proof = { channel_id, password: PASSWORD }
  await firefox.goto(`${gateway.baseUrl}/console/#/open/${channel_id}/${PASSWORD}/${TOKEN}`)
  await until(
    () => addressOf(firefox),
    (hash) => hash === `#/${channel_id}/overview`,
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

  await endsReminders(t, firefox, { gateway, proof, start })

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

interface Reminded {
  readonly gateway: Gateway
  readonly proof: { readonly channel_id: string; readonly password: string }
  readonly start: (aheadMs: number) => Promise<Gateway>
}

/** A person acknowledges one of two Events from its notification, and hears of the other alone. */
async function endsReminders(t: ExecutionContext, firefox: Firefox, play: Reminded): Promise<void> {
  const { gateway, proof, start } = play
  const { event, channel } = createClient(gateway)
  const about = { ...proof, event_time: Date.now(), severity: 'critical', remind_every: '1m' }
  const { event_id } = await event.create({ ...about, title: 'Freezer too warm' })
  const { event_id: other } = await event.create({ ...about, title: 'Door open' })
  /** The reminders of an Event so far. */
  const remindersOf = async (entity_id: string): Promise<number> => {
    const body = { ...proof, model: 'event', entity_id, limit: 200 } as const
    const { items } = await channel.history(body)
    return items.filter(({ action }) => action === 'remind').length
  }
  await gateway.end('SIGKILL')
  const reminding = await start(MINUTE_MS)
  for (const id of [event_id, other])
    await until(
      () => remindersOf(id),
      (count) => count === 1,
    )
  const tag = `${proof.channel_id}/event/${event_id}`
  const shownOf = async (): Promise<string> => String(await firefox.inPage(BODIES))
  const isShown = (body: string) => (all: string) => all.includes(`${tag} ${body}`)
  await until(shownOf, isShown('Reminder 1'))
  await firefox.inBrowser(pressOn('Freezer too warm', 'acknowledge'))
  await until(
    () => event.get({ ...proof, event_id }),
    (kept) => kept.acknowledged_at !== undefined,
  )
  await until(shownOf, isShown('Acknowledged'))
  await reminding.end('SIGKILL')
  await start(11 * MINUTE_MS)
  await until(
    () => remindersOf(other),
    (count) => count === 2,
  )
  // Its push has arrived: nothing of it meets what the push service answers next.
  const door = `${proof.channel_id}/event/${other} Reminder 2`
  await until(shownOf, (all) => all.includes(door))
  t.is(await remindersOf(event_id), 1, 'nobody is reminded of what somebody has')
}

async function shows(t: ExecutionContext, firefox: Firefox, wanted: unknown): Promise<void> {
  const isWanted = (found: unknown): boolean => JSON.stringify(found) === JSON.stringify(wanted)
  t.deepEqual(await until(() => firefox.inPage(SHOWN), isWanted), wanted)
}

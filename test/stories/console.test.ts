// Goal: a person walks through the console in a real browser: makes a channel, sees what curl sends,
// carries it to a second browser, loses the network, meets strangers' texts, and goes by keyboard.

import test from 'ava'
import type { ExecutionContext } from 'ava'
import type { Browser } from 'playwright-core'

import { TEST_MS } from '#test/support/bounds'
import { openBrowser } from '#test/support/browser'
import { Person } from '#test/support/console-person'
import { TOKEN, post, startGateway, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { Relay } from '#test/support/relay'

const PASSWORD = 'correct-horse-battery'
const HOSTILE = '<img src=x onerror=alert(1)> \u202etxt.exe \u0007 [click](javascript:alert(1))'

async function createChannel({ page }: Person, address: string): Promise<string> {
  await page.goto(address)
  await page.getByLabel('Gateway token').fill('wrong')
  await page.getByRole('button', { name: 'Use this token' }).click()
  await page.getByText('This is not the token of the gateway').waitFor()
  await page.getByLabel('Gateway token').fill(TOKEN)
  await page.getByRole('button', { name: 'Use this token' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Greenhouse')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create channel' }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('link', { name: 'Sent. It stands in Messages.' }).waitFor()
  await page.getByText(/"password": "[0-9A-Za-z]{43}"/).waitFor()
  await page.getByRole('link', { name: 'To the overview' }).click()
  await page.getByRole('heading', { name: 'No Thing yet' }).waitFor()
  return new URL(page.url()).hash.split('/')[1] ?? ''
}

/** Sends what every view needs to have something to show. */
async function fill(gateway: Gateway, channelId: string): Promise<void> {
  const proof = { channel_id: channelId, password: PASSWORD }
  const at = { observed_at: Date.now() }
  const thing = { ...proof, ...at, thing_id: 'boiler-1', title: 'Boiler 1' }
  await post(gateway, '/thing/update', { ...thing, attrs: { temperature: 61.5 } })
  await post(gateway, '/thing/update', { ...thing, attrs: { temperature: 62.5 } })
  const event = { ...proof, event_time: Date.now(), title: 'Pressure too low' }
  const about = { severity: 'critical', thing_id: 'boiler-1', message: HOSTILE }
  await post(gateway, '/event/create', { ...event, ...about })
  const message = { ...proof, title: HOSTILE, body: `${HOSTILE}\n\n${'x'.repeat(20_000)}` }
  await post(gateway, '/message', { ...message, images: ['https://elsewhere.example/a.png'] })
}

test('a person makes a channel, sees what is sent, and carries it to another browser', async (t) => {
  t.timeout(TEST_MS)
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const gateway = await startGateway(t, {
    env: { SERVICE_WEBPUSH_SUBJECT: 'mailto:push@gateway.example' },
  })
  const relay = await Relay.open(t, Number(new URL(gateway.baseUrl).port))
  const address = `http://127.0.0.1:${relay.port}`
  const first = await Person.at(browser, address)
  const channelId = await createChannel(first, address)
  await fill(gateway, channelId)
  await first.reads('Boiler 1')
  await first.reads('62.5')

  // Strangers' texts are texts; nothing of them ran, and nothing was asked for elsewhere.
  await first.go(`#/${channelId}/messages`)
  await first.reads('⟨202E⟩txt.exe ␇')
  t.is(await first.page.locator('main img, main [onerror], main a[href^="javascript"]').count(), 0)
  t.is(await first.page.getByRole('link', { name: 'Image at elsewhere.example' }).count(), 1)

  await notifyHere(t, first, channelId)
  await offlineAndBack(t, first, { gateway, relay, channelId })
  await secondBrowser(t, browser, first, { gateway, address, channelId })
  await byKeyboard(t, first, channelId)
  t.deepEqual(first.wrongs, [])
  const secrets = [TOKEN, PASSWORD]
  t.deepEqual(
    first.urls.filter((url) => secrets.some((secret) => url.includes(secret))),
    [],
  )
  t.false(secrets.some((secret) => JSON.stringify(gateway.lines).includes(secret)))
})

interface Place {
  readonly gateway: Gateway
  readonly channelId: string
}

/** In place of the browser's push service, which a test has none of. */
const SUBSCRIBED = `PushManager.prototype.subscribe = async () => ({
  endpoint: 'https://push.example.net/1',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
})`

/** The gateway pushes to this browser, whose worker shows what comes; a later update replaces it. */
async function notifyHere(t: ExecutionContext, person: Person, channelId: string): Promise<void> {
  const { page, context } = person
  await context.grantPermissions(['notifications'])
  await page.evaluate(SUBSCRIBED)
  await person.go(`#/${channelId}/channel`)
  await page.getByRole('button', { name: 'Notify me here' }).click()
  await page.getByRole('button', { name: 'Stop notifications here' }).waitFor()
  const session = await context.newCDPSession(page)
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      resolve(registrations[0]?.registrationId ?? '')
    })
  })
  await session.send('ServiceWorker.enable')
  const { origin } = new URL(page.url())
  const registration = { origin, registrationId: await registered }
  const navigate = `https://elsewhere.example/console/#/${channelId}/events`
  for (const title of ['Pressure too low', 'Pressure is back']) {
    const notification = { title, tag: 'one', navigate, data: { metadata: METADATA } }
    const data = JSON.stringify({ web_push: 8030, notification })
    await session.send('ServiceWorker.deliverPushMessage', { ...registration, data })
  }
  const shown = await until(
    () => page.evaluate<readonly (readonly string[])[]>(NOTIFICATIONS),
    (found) => found[0]?.[0] === 'Pressure is back',
  )
  const place = `#/${channelId}/events`
  t.deepEqual(shown, [['Pressure is back', place, 'See it']], 'one, to this page alone')
  await page.getByRole('button', { name: 'Stop notifications here' }).click()
  await page.getByRole('button', { name: 'Notify me here' }).waitFor()
  await person.go(`#/${channelId}/messages`)
}

const NOTIFICATIONS = `navigator.serviceWorker.ready
  .then((registration) => registration.getNotifications())
  .then((found) => found.map(({ title, data, actions }) =>
    [title, data.hash, ...actions.map((action) => action.title)]))`

const METADATA = JSON.stringify({
  'compat.topic.actions': 'view, See it, https://a.example; view, Bad, javascript:alert(1)',
})

/** The titles of the Messages that the page has saved of a channel. */
const SAVED_TITLES = `async (id) => {
  const ended = (request) =>
    new Promise((resolve) => request.addEventListener('success', () => resolve(request.result)))
  const database = await ended(indexedDB.open('heliograph console'))
  const saved = await ended(database.transaction('channels').objectStore('channels').get(id))
  database.close()
  return (saved?.messages ?? []).map(({ payload }) => payload.title).join()
}`

/** Each Message is seen once, whether it came while the network was away or not. */
async function offlineAndBack(
  t: ExecutionContext,
  person: Person,
  { gateway, relay, channelId }: Place & { readonly relay: Relay },
): Promise<void> {
  const { page, context } = person
  const proof = { channel_id: channelId, password: PASSWORD }
  await context.setOffline(true)
  relay.cut()
  await page.getByRole('button', { name: 'Try now' }).waitFor()
  for (const title of ['Away one', 'Away two']) await post(gateway, '/message', { ...proof, title })
  t.is(await page.getByRole('heading', { name: 'Away' }).count(), 0)
  await context.setOffline(false)
  await page.getByRole('heading', { name: 'Away two' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Away two' }).waitFor()
  t.is(await page.getByRole('heading', { name: 'Away' }).count(), 2)

  // Opened anew without a network, the page shows the last state, and says how old it is.
  await page.evaluate('navigator.serviceWorker.ready.then(() => {})')
  await until(
    () => page.evaluate<string>(`(${SAVED_TITLES})(${JSON.stringify(channelId)})`),
    (titles) => titles.includes('Away two'),
  )
  await context.setOffline(true)
  relay.cut()
  await page.reload()
  await page.getByRole('heading', { name: 'Away two' }).waitFor()
  await page.getByText('This is the state of').waitFor()
  await person.go(`#/${channelId}/overview`)
  await page.locator('.verdict.away', { hasText: /^As of \d/ }).waitFor()
  // An Event says that its updates are missing, and has them once the network is back.
  await page.getByRole('link', { name: 'Pressure too low' }).first().click()
  await page.getByRole('alert').getByText('The gateway does not answer').waitFor()
  await context.setOffline(false)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.updates').getByText('Created').waitFor()
  t.is(await page.getByRole('alert').count(), 0)
}

/** A link of the channel opens it where nobody has its password. */
async function secondBrowser(
  t: ExecutionContext,
  browser: Browser,
  first: Person,
  { gateway, address, channelId }: Place & { readonly address: string },
): Promise<void> {
  await first.go(`#/${channelId}/channel`)
  await first.page.getByLabel('Password', { exact: true }).fill('not the password')
  await first.page.getByRole('button', { name: 'Continue' }).click()
  await first.page.getByRole('alert').waitFor()
  await first.page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await first.page.getByRole('button', { name: 'Continue' }).click()
  await first.page.getByRole('button', { name: 'Make a link' }).click()
  const link = await first.page.getByRole('region', { name: 'Link for another device' }).innerText()
  await first.page.getByRole('img', { name: 'QR code of the link' }).waitFor()
  const phone = { viewport: { width: 360, height: 740 }, colorScheme: 'dark', locale: 'zh-CN' }
  const second = await Person.at(browser, address, phone)
  // The second browser needs the token of the gateway, too. An installed page has no address bar.
  await second.page.goto(address)
  await second.page.getByLabel('网关令牌').fill(TOKEN)
  await second.page.getByRole('button', { name: '使用此令牌' }).click()
  await second.page.getByText('我已有频道').click()
  await second.page.getByLabel('频道 ID').fill(link)
  await second.reads('Boiler 1')
  t.notRegex(second.page.url(), /open/)
  t.is(await second.page.locator('html').getAttribute('lang'), 'zh-CN')
  const sent = { channel_id: channelId, password: PASSWORD, thing_id: 'new-one', observed_at: 1e12 }
  await post(gateway, '/thing/update', { ...sent, attrs: { a: 1 } })
  await second.reads('new-one')
  await removeDevice(first, channelId)
  await second.reads('网关不允许此浏览器关注该频道')
  t.deepEqual(second.wrongs, [])
  await second.context.close()
}

/** The owner ends what the other browser follows; the list says which one is this browser. */
async function removeDevice(person: Person, channelId: string): Promise<void> {
  const { page } = person
  // The list is read when the view opens.
  for (const view of ['events', 'channel']) await person.go(`#/${channelId}/${view}`)
  const devices = page.getByRole('listitem').filter({ hasText: 'own connection' })
  await devices.filter({ hasText: 'this browser' }).waitFor()
  const other = devices.filter({ hasNotText: 'this browser' })
  await other.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await other.waitFor({ state: 'detached' })
}

/** From the overview to an update of a Thing and back, without a pointer. */
async function byKeyboard(t: ExecutionContext, { page }: Person, channelId: string): Promise<void> {
  const press = async (name: string | RegExp, key = 'Enter'): Promise<void> => {
    const wanted = page.getByRole('link', { name }).or(page.getByRole('button', { name })).first()
    await wanted.waitFor()
    // Its text may change meanwhile: a Thing says how old its values are.
    const isFocused = async (): Promise<boolean> =>
      (await wanted.and(page.locator(':focus')).count()) === 1
    for (let steps = 0; steps < 60 && !(await isFocused()); steps += 1) {
      await page.keyboard.press('Tab')
    }
    t.true(await isFocused(), `${String(name)} is reached by keyboard`)
    await page.keyboard.press(key)
  }
  await page.goto(`${page.url().split('#')[0] ?? ''}#/${channelId}/events`)
  await press('Skip to content')
  t.is(await page.evaluate('document.activeElement?.tagName'), 'MAIN')
  await press(/Pressure too low/)
  await page.getByRole('heading', { level: 1, name: 'Pressure too low' }).waitFor()
  await press('Close Event')
  await page.getByText('closed', { exact: true }).first().waitFor()
  await page.goto(`${page.url().split('#')[0] ?? ''}#/${channelId}/overview`)
  await press(/^Boiler 1/)
  await page.locator('summary', { hasText: 'Details' }).press('Enter')
  await press('Archive')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.deepEqual(await page.getByText('archived', { exact: true }).allInnerTexts(), [])
}

// Goal: the SDK runs in a browser: it subscribes, loses the network, comes back, also as a page that
// was loaded anew, and nothing is missing or comes twice.

import test from 'ava'
import type { Page } from 'playwright-core'

import { createClient } from '#src/client/client'
import { encrypt, keyFromBytes } from '#src/client/encryption'
import { TEST_MS } from '#test/support/bounds'
import { openBrowser, servePages } from '#test/support/browser'
import { PASSWORD } from '#test/support/device'
import { startGateway, until } from '#test/support/gateway'
import { Relay } from '#test/support/relay'

/** The program of the page: it notes its results where the test can read them. */
const PROGRAM = `async ({ baseUrl, deviceKey, channelId }) => {
  const { decrypt, deliveries, keyFromBytes, localStoragePositions } = await import('heliograph')
  globalThis.seen = []
  const key = await keyFromBytes('one', new Uint8Array(32))
  const loop = deliveries({
    baseUrl,
    deviceKey,
    store: localStoragePositions('device'),
    onState: ({ kind }) => (globalThis.state = kind),
  })
  void (async () => {
    for await (const { payload } of loop) {
      const { title, ciphertext } = payload
      globalThis.seen.push(title + (await decrypt([key], { channelId, ciphertext })))
    }
  })()
}`

const seenBy = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>('globalThis.seen')

const stateOf = (page: Page): Promise<string> => page.evaluate<string>('globalThis.state')

test('a page loses the network, comes back, is loaded anew, and misses nothing', async (t) => {
  t.timeout(TEST_MS)
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const gateway = await startGateway(t, { env: { SERVICE_TOKEN: '' } })
  const relay = await Relay.open(t, Number(new URL(gateway.baseUrl).port))
  const client = createClient(gateway)
  const named = { channel_name: 'Greenhouse', password: PASSWORD }
  const { channel_id } = await client.channel.create(named)
  const credentials = { channel_id, password: PASSWORD }
  const { device_key: deviceKey } = await client.device.register({ platform: 'other' })
  await client.channel.subscribe({ ...credentials, device_key: deviceKey })
  const key = await keyFromBytes('one', new Uint8Array(32))
  const sent: string[] = []
  const send = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      const title = `message ${sent.length}`
      sent.push(`${title}, opened`)
      const ciphertext = await encrypt(key, { channelId: channel_id, text: ', opened' })
      await client.message.send({ ...credentials, title, ciphertext })
    }
  }
  const context = await browser.newContext()
  const page = await context.newPage()
  const address = await servePages(t)
  const options = { baseUrl: `http://127.0.0.1:${relay.port}`, deviceKey, channelId: channel_id }
  const begin = async (): Promise<void> => {
    await page.goto(address)
    await page.evaluate(`(${PROGRAM})(${JSON.stringify(options)})`)
  }
  const sees = (titles: readonly string[]): Promise<readonly string[]> =>
    until(
      () => seenBy(page),
      (seen) => seen.length >= titles.length,
    )

  await begin()
  await send(3)
  t.deepEqual(await sees(sent), sent)

  await context.setOffline(true)
  relay.cut()
  await until(
    () => stateOf(page),
    (state) => state === 'waiting',
  )
  await send(5)
  t.is((await seenBy(page)).length, 3)
  await context.setOffline(false)
  t.deepEqual(await sees(sent), sent)

  await until(
    () => page.evaluate<string>('localStorage.getItem("device")'),
    (saved) => saved.includes(':7') || saved.includes(':8'),
  )
  await begin()
  await send(2)
  const last = sent.slice(-3)
  const seen = await until(
    () => seenBy(page),
    (titles) => titles.includes(sent.at(-1) ?? ''),
  )
  t.deepEqual([...last].slice(-seen.length), seen, 'only what had not been handled comes again')
})

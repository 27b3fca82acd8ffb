// Goal: every view of the console can be used by everybody: axe finds nothing on any of them, in
// both languages, light and dark, on a phone and on a desk, and each is reached and left by keyboard.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createClient } from '#src/client/client'
import { TEST_MS } from '#test/support/bounds'
import { openBrowser } from '#test/support/browser'
import { fromVerdictToWall, keysOfThePage } from '#test/support/console-overview'
import { Person } from '#test/support/console-person'
import { walkToClosed } from '#test/support/console-walk'
import { PASSWORD } from '#test/support/device'
import { TOKEN, startGateway } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

const HOUR_MS = 3_600_000
/** By view what it shows once it is there. */
const PLACES = [
  ['start', 'Greenhouse'],
  ['overview', 'boiler-1'],
  ['overview&as=tiles', 'boiler-1'],
  ['overview&as=map', 'No Thing here has a place'],
  ['all', 'boiler-1'],
  ['thing/boiler-1', 'Boiler hot'],
  ['events', 'Pressure too low'],
  ['event', 'looked at'],
  ['messages', 'Front door'],
  ['rules', 'Boiler hot'],
  ['rule/boiler-hot', 'boiler-hot'],
  ['rule/levels', 'levels'],
  ['rule/', /./],
  ['send', /curl/],
  ['channel', 'Greenhouse'],
  ['inspector', 'thing/update'],
  ['gateway', /webpush|Web Push/],
] as const

const ACTIONS = 'view, See it, https://camera.example; view, Bad, javascript:alert(1)'

interface Filled {
  readonly channelId: string
  readonly eventId: string
}

/** Sends what every view needs to have something to show. */
async function fill(gateway: Gateway, doorUrl: string): Promise<Filled> {
  const { channel, rule, thing, event, message } = createClient(gateway)
  const { channel_id } = await channel.create({ channel_name: 'Greenhouse', password: PASSWORD })
  const proof = { channel_id, password: PASSWORD }
  const rules = {
    'boiler-hot': { title: 'Boiler hot', when: { attr: 'temperature', above: 62 } },
    levels: { enabled: false, when: { silent: '10m' } },
  }
  const levels = [{ when: { silent: '1h' }, severity: 'critical' }]
  for (const [rule_id, members] of Object.entries(rules)) {
    const output = { title: '{thing.title}', ...(rule_id === 'levels' && { levels }) }
    await rule.put({ ...proof, rule_id, rule: { things: 'all', ...members, event: output } })
  }
  const at = Date.now()
  for (const [index, temperature] of [60, 61, 63, 61].entries()) {
    const attrs = { temperature, burning: index % 2 === 0, mode: `step ${index}` }
    const observed_at = at - HOUR_MS / 2 + index * 60_000
    await thing.update({ ...proof, thing_id: 'boiler-1', observed_at, attrs })
  }
  const about = { ...proof, event_time: at, thing_id: 'boiler-1' }
  const made = await event.create({ ...about, title: 'Pressure too low', severity: 'critical' })
  const { event_id: eventId } = made
  await event.update({ ...proof, event_id: eventId, event_time: at, status: 'looked at' })
  const metadata = { 'compat.topic.actions': `${ACTIONS}; http, Open, ${doorUrl}/open, body=now` }
  await message.send({ ...proof, title: 'Front door', body: '**Open?**', metadata })
  return { channelId: channel_id, eventId }
}

const hashOf = ({ channelId, eventId }: Filled, place: string): string => {
  if (place === 'start' || place === 'all' || place === 'gateway') return `#/${place}`
  return `#/${channelId}/${place === 'event' ? `event/${eventId}` : place}`
}

test('axe finds nothing on any view, and each is used by keyboard alone', async (t) => {
  t.timeout(TEST_MS)
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const env = { SERVICE_WEBPUSH_SUBJECT: 'mailto:push@gateway.example' }
  const gateway = await startGateway(t, { env })
  const door = await Door.open(t)
  const filled = await fill(gateway, door.url)
  const person = await Person.at(browser, gateway.baseUrl)
  const { page } = person
  await page.goto(`${gateway.baseUrl}/console/#/open/${filled.channelId}/${PASSWORD}/${TOKEN}`)
  await person.reads('boiler-1')
  await rulesByKeyboard(t, person, filled)
  await actionsOfMessage(t, person, { ...filled, door })
  await scheduledMessages(t, person, filled)
  for (const [place, sign] of PLACES) {
    await person.go(hashOf(filled, place))
    const main = page.getByRole('main')
    await main
      .getByText(sign)
      .or(main.locator('textarea', { hasText: sign }))
      .first()
      .waitFor()
    await walk(t, person, place)
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: 900 })
      for (const look of ['light', 'dark'] as const) {
        for (const language of ['en', 'zh-CN'] as const) {
          await person.choose(look, language)
          const what = `${place}, ${width} px, ${look}, ${language}`
          t.deepEqual(await person.findings(), [], what)
        }
      }
      const isWider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
      t.false(await page.evaluate<boolean>(isWider), `${place} is no wider than ${width} px`)
    }
    await person.choose('light', 'en')
  }
  await keysOfThePage(t, person, `#/${filled.channelId}/overview`)
  await fromVerdictToWall(t, person, `#/${filled.channelId}/overview`)
  const { channelId } = filled
  const limit = { channelId, password: PASSWORD, attr: 'temperature', above: 62 }
  await walkToClosed(t, browser, gateway, limit)
  t.deepEqual(person.wrongs, [])
})

const WALKS_MAX = 3

/**
 * Goes through the page by Tab: everything that can be used is reached, and is seen to be. What
 * arrives meanwhile moves the focus, so that a walk may miss something and the next one does not.
 */
async function walk(t: ExecutionContext, { page }: Person, place: string): Promise<void> {
  let walked = await walkOnce(page)
  for (let walks = 1; walked.missed !== 0 && walks < WALKS_MAX; walks += 1) {
    walked = await walkOnce(page)
  }
  t.is(walked.missed, 0, `${place}: Tab reaches everything that can be used`)
  t.deepEqual(walked.unseen, [], `${place}: focus is seen`)
}

/** Returns how many of what can be used Tab does not reach, and where the focus is not seen. */
async function walkOnce(page: Person['page']) {
  await page.evaluate('document.activeElement?.blur()')
  const all = await page.evaluate<number>(
    `[...document.querySelectorAll(${JSON.stringify(USABLE)})]
      .filter((it) => it.checkVisibility()).length`,
  )
  const reached = new Set<string>()
  for (let steps = 0; steps <= all; steps += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<string>(FOCUSED)
    if (focused !== '') reached.add(focused) // Past the last one it is the browser's turn.
  }
  return {
    missed: all - reached.size,
    unseen: [...reached].filter((at) => at.endsWith('unseen')),
  }
}

// Of a group of radio buttons Tab reaches the chosen one.
const USABLE = `a[href], button:not(:disabled), input:not([type="radio"]:not(:checked)), select,
  textarea, summary, [tabindex="0"]`
const FOCUSED = `(() => {
  const it = document.activeElement
  if (it === document.body) return ''
  const { width, height } = it.getBoundingClientRect()
  const isSeen = width > 0 && height > 0 && getComputedStyle(it).outlineStyle !== 'none'
  return [...document.querySelectorAll('*')].indexOf(it) + (isSeen ? '' : ' unseen')
})()`

/** Writes a rule, meets its fault, tries it, saves it, deletes it. */
async function rulesByKeyboard(t: ExecutionContext, person: Person, filled: Filled): Promise<void> {
  const { page } = person
  await person.go(hashOf(filled, 'rules'))
  await page.getByRole('link', { name: 'Write a rule' }).press('Enter')
  await page.getByLabel('Rule id').pressSequentially('too-hot')
  await page.getByLabel('Value', { exact: true }).pressSequentially('temperature')
  await page.getByLabel('Limit').pressSequentially('warm')
  await page.getByLabel('Title').pressSequentially('{temperature} °C')
  await page.getByRole('button', { name: 'Save rule' }).press('Enter')
  await page.getByText('(rule.when.above: must be a number)').waitFor()
  t.is(await page.locator('[aria-invalid="true"]:focus').inputValue(), 'warm')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('62')
  await page.getByRole('button', { name: 'Try it' }).press('Enter')
  await page.getByText('Firings: 1').waitFor()
  await page.getByText('63 °C').waitFor()
  await page.getByLabel('JSON').press('Space')
  await page.getByLabel('Rule as JSON').press('Control+End')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.type(', "four": 5')
  await page.getByRole('button', { name: 'Save rule' }).press('Enter')
  await page.getByText(/^Line \d+, rule\.four: is not known/).waitFor()
  await page.waitForFunction("getSelection().toString() === '5}'")
  await page.keyboard.press('Control+A')
  const when = { attr: 'temperature', above: 62 }
  const rule = { title: 'Too hot', things: 'all', when, event: { title: '{temperature} °C' } }
  await page.keyboard.insertText(JSON.stringify(rule))
  await page.getByRole('button', { name: 'Save rule' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Too hot' }).waitFor()
  await page.getByRole('button', { name: 'Delete rule' }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).press('Enter')
  await page.getByRole('link', { name: /^levels/ }).waitFor()
  t.is(await page.getByRole('link', { name: /^Too hot/ }).count(), 0)
}

/** A Message that waits is seen, and taken back; one stays for what comes after. */
async function scheduledMessages(
  t: ExecutionContext,
  person: Person,
  filled: Filled,
): Promise<void> {
  const { page } = person
  await person.go(hashOf(filled, 'send'))
  await page.getByLabel('When').selectOption('delay')
  for (const title of ['Bins out', 'Bins in']) {
    await page.getByLabel('Title').fill(title)
    await page.getByLabel('After').fill('soon')
    await page.getByRole('button', { name: 'Send' }).press('Enter')
    await page.getByText('A time is a number with s, m, h or d.').waitFor()
    await page.getByLabel('After').fill('8h')
    await page.getByRole('button', { name: 'Send' }).press('Enter')
    await page.getByText(/^The gateway has it/).waitFor()
  }
  await page.getByRole('link', { name: 'See what waits' }).press('Enter')
  const waiting = page.getByRole('listitem').filter({ hasText: 'Bins' })
  await waiting.first().waitFor()
  t.is(await waiting.count(), 2)
  await waiting.filter({ hasText: 'out' }).getByRole('button').press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).press('Enter')
  await waiting.filter({ hasText: 'out' }).waitFor({ state: 'detached' })
  await page.reload()
  await waiting.first().waitFor()
  t.deepEqual(await waiting.count(), 1)
}

/** A door that opens for whoever asks, and knows nothing of other pages. */
class Door {
  readonly asked: string[] = []
  readonly url: string

  private constructor(url: string) {
    this.url = url
  }

  static async open(t: ExecutionContext): Promise<Door> {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        const { cookie = '', referer = '' } = request.headers
        door.asked.push(`${request.method} ${request.url} ${body}${cookie}${referer}`)
        response.end()
      })
    }).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    const door = new Door(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    return door
  }
}

/** The buttons of a Message: an address, a request of this browser's worker, and no script. */
async function actionsOfMessage(
  t: ExecutionContext,
  person: Person,
  { door, ...filled }: Filled & { readonly door: Door },
): Promise<void> {
  const { page } = person
  await person.go(hashOf(filled, 'messages'))
  const link = page.getByRole('link', { name: 'See it' })
  t.is(await link.getAttribute('href'), 'https://camera.example/')
  t.is(await link.getAttribute('rel'), 'noopener noreferrer nofollow')
  t.is(await page.getByText('Bad', { exact: true }).count(), 0)
  await page.waitForFunction('navigator.serviceWorker.controller !== null')
  await page.getByRole('button', { name: 'Open', exact: true }).press('Enter')
  await page.getByText('Sent.').waitFor()
  t.deepEqual(door.asked, ['POST /open now'])
  // The page itself may send to this gateway alone.
  const own = `fetch(${JSON.stringify(door.url)}, { mode: 'no-cors' }).then(() => 'sent', () => 'refused')`
  t.is(await page.evaluate(own), 'refused')
  t.is(person.wrongs.splice(0).length, 2, 'its policy says so, and the request was noted')
}

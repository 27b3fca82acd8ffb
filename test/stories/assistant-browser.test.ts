// Goal: a person at a real browser, without scripts, lets the official client in, gives it one more
// channel, and ends its use of both.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import type { CallToolResult } from '@modelcontextprotocol/client'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'

import { TEST_MS } from '#test/support/bounds'
import { createChannel, startAssistantsGateway } from '#test/support/assistants-gateway'
import { openBrowser } from '#test/support/browser'
import { PASSWORD } from '#test/support/making'
import { textOf } from '#test/support/mcp-rig'
import { KeptByClient, connectOfficial } from '#test/support/oauth-person'

/** A person who reads and fills the pages of a gateway. */
class Reader {
  /** The origins that the pages made the browser ask, and what it refused to do for a page. */
  readonly origins = new Set<string>()
  readonly refused: string[] = []
  readonly page: Page

  private constructor(page: Page) {
    this.page = page
    page.on('request', (request) => this.origins.add(new URL(request.url()).origin))
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) this.refused.push(message.text())
    })
  }

  static async open(browser: Browser): Promise<Reader> {
    const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en-GB' })
    return new Reader(await context.newPage())
  }

  /** Opens an address; gives the status and the title that the person reads. */
  async visit(url: string): Promise<readonly [number | undefined, string]> {
    const response = await this.page.goto(url)
    return [response?.status(), await this.title()]
  }

  title(): Promise<string> {
    return this.page.getByRole('heading').innerText()
  }

  /** Fills the form and presses the button; gives the status of the answer. */
  async fill(button: string, password: string, channelId?: string): Promise<number> {
    if (channelId !== undefined) await this.page.getByLabel('Channel id').fill(channelId)
    await this.page.getByLabel('Channel password').fill(password)
    const answered = this.page.waitForResponse((each) => each.request().method() === 'POST')
    await this.page.getByRole('button', { name: button }).click()
    const response = await answered
    await this.page.waitForLoadState()
    return response.status()
  }

  /** Goes to a button with the tab key and presses it. */
  async pressByKeyboard(button: string): Promise<void> {
    const focused = this.page.locator(':focus')
    for (let steps = 0; steps < 20; steps += 1) {
      await this.page.keyboard.press('Tab')
      if ((await focused.allInnerTexts())[0] === button) break
    }
    const answered = this.page.waitForResponse((each) => each.request().isNavigationRequest())
    await this.page.keyboard.press('Enter')
    await answered
    await this.page.waitForLoadState()
  }

  /** Allows what the page asks for; gives what the client is told at its own address. */
  async allow(redirectUrl: string, channelId: string): Promise<URLSearchParams> {
    await this.fill('Allow', PASSWORD, channelId)
    await this.page.waitForURL((url) => url.href.startsWith(redirectUrl))
    return new URL(this.page.url()).searchParams
  }
}

/** The address of a program on the person's machine, to which the browser comes back. */
async function listenForCode(t: ExecutionContext): Promise<string> {
  const server = createServer((_, response) => response.end('You can go back.'))
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
}

test.serial('a person lets a client in, binds a second channel, and ends both', async (t) => {
  t.timeout(TEST_MS)
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const gateway = await startAssistantsGateway(t)
  const { baseUrl } = gateway
  const [first, second] = [await createChannel(gateway), await createChannel(gateway)]
  const reader = await Reader.open(browser)
  const redirectUrl = await listenForCode(t)
  const kept = new KeptByClient(redirectUrl)
  const transport = (): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { authProvider: kept })
  const lastAsked = (): string => kept.asked.at(-1)?.href ?? ''

  const client = await connectOfficial(t, {
    transport,
    told: async () => {
      t.deepEqual(await reader.visit(lastAsked()), [200, 'Connect an assistant'])
      t.is(await reader.fill('Allow', 'wrong password', first), 404)
      t.is(await reader.title(), 'Connect an assistant')
      t.not(await reader.page.getByRole('alert').innerText(), '')
      t.is(await reader.page.getByLabel('Channel id').inputValue(), first)
      return reader.allow(redirectUrl, first)
    },
  })
  const send = (channelId: string): Promise<CallToolResult> =>
    client.callTool({ name: 'message_send', arguments: { channel_id: channelId, title: 'Done' } })
  t.not((await send(first)).isError, true)
  t.regex(textOf(await send(second)), /^channel_not_found: /)

  // The client got in for the tools; to ask for channels it must ask the person again.
  const start = { name: 'channel_bind_start' }
  await t.throwsAsync(client.callTool(start), { instanceOf: UnauthorizedError })
  await reader.visit(lastAsked())
  const listed = await reader.page.getByRole('listitem').allInnerTexts()
  t.true(listed.includes(`x (${first})`), 'it tells which channels the client keeps')
  await transport().finishAuth(await reader.allow(redirectUrl, first))
  const { structuredContent } = await client.callTool(start)
  const { url = '' } = structuredContent as Readonly<Record<string, string>>
  t.deepEqual(await reader.visit(url), [200, 'Connect an assistant'])
  t.is(await reader.fill('Bind this channel', PASSWORD, second), 200)
  t.is(await reader.title(), 'The channel is bound')
  t.deepEqual(await reader.visit(url), [410, 'This page was used'])
  t.not((await send(second)).isError, true)

  const end = async (channelId: string): Promise<void> => {
    await reader.visit(`${baseUrl}/oauth/assistants`)
    await reader.fill('Show', PASSWORD, channelId)
    // The client was let in twice in this browser, and stands here once.
    const radio = reader.page.getByRole('radio')
    t.is(await radio.count(), 1)
    t.true(((await radio.boundingBox())?.width ?? Infinity) < 50, 'it stands beside its name')
    await radio.check()
    t.is(await reader.fill('End its use of this channel', PASSWORD), 200)
  }
  await end(second)
  t.regex(textOf(await send(second)), /^channel_not_found: /)
  t.not((await send(first)).isError, true)
  const askedBefore = kept.asked.length
  await end(first)
  await t.throwsAsync(send(first), { instanceOf: UnauthorizedError })
  t.is(kept.asked.length, askedBefore + 1, 'the client must ask the person again')

  await reader.visit(`${baseUrl}/oauth/assistants`)
  await reader.pressByKeyboard('Sign out of this browser')
  t.is(await reader.title(), 'Sign out of this browser')
  await reader.pressByKeyboard('Sign out and forget this browser')
  t.is(await reader.title(), 'You are signed out')
  // Those of single authorizations end by themselves.
  const cookies = await reader.page.context().cookies()
  t.deepEqual(
    cookies.filter(({ path }) => path === '/'),
    [],
  )

  t.deepEqual([...reader.origins].toSorted(), [baseUrl, new URL(redirectUrl).origin].toSorted())
  t.deepEqual(reader.refused, [])
  const log = JSON.stringify(gateway.lines)
  for (const secret of [PASSWORD, url]) t.false(log.includes(secret))
})

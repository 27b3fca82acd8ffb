// Firefox without a screen, driven by Marionette, which sees its pages and its own windows: so a
// test can click on a notification. Its push service is the one that the test names.

import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'

import type { ExecutionContext } from 'ava'

import { findOrInstall } from '#src/dev/servers/programs'
import { temporaryFolder, until } from './gateway.ts'

const preferences = (pushService: string): Readonly<Record<string, string | number | boolean>> => ({
  'marionette.port': 0,
  'dom.push.serverURL': pushService,
  'dom.push.testing.allowInsecureServerURL': true,
  'dom.push.connection.enabled': true,
  // A test that goes again and again would be cut off.
  'dom.push.maxQuotaPerSubscription': 1_000,
  // Its own windows show notifications, instead of a desktop.
  'alerts.useSystemBackend': false,
  'permissions.default.desktop-notification': 1,
  'intl.accept_languages': 'en-GB',
  // It asks nobody else for anything.
  'app.update.enabled': false,
  'browser.safebrowsing.provider.mozilla.updateURL': '',
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'http://127.0.0.1:1/',
  'toolkit.telemetry.enabled': false,
})

type Answered = readonly [type: number, id: number, error: object | null, result: unknown]

/** The body of an asynchronous function; what it returns is JSON. */
type Script = string

export class Firefox {
  readonly #socket: Socket
  readonly #waiting = new Map<number, (answer: Answered) => void>()
  #received = Buffer.alloc(0)
  #sent = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  /**
   * A browser that ends with the test. Where firefox-esr cannot be had the test says why and passes;
   * under CI=true it fails.
   */
  static async open(t: ExecutionContext, pushService: string): Promise<Firefox | undefined> {
    const found = await findOrInstall('firefox-esr', process.env)
    if (found.kind !== 'found') {
      if (process.env['CI'] === 'true') throw new Error(found.reason)
      t.log(`not run: ${found.reason}`)
      t.pass()
      return undefined
    }
    const folder = await temporaryFolder(t)
    const lines = Object.entries(preferences(pushService)).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    )
    await writeFile(join(folder, 'user.js'), lines.join('\n'))
    const options = ['-headless', '-no-remote', '-profile', folder, '-marionette']
    const browser = spawn(found.file, [...options, '-remote-allow-system-access', 'about:blank'], {
      env: { ...process.env, HOME: folder },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => browser.once('exit', resolve))
    t.teardown(async () => {
      browser.kill('SIGKILL')
      await ended
    })
    const portFile = join(folder, 'MarionetteActivePort')
    const port = await until(
      () => readFile(portFile, 'utf8').then(Number, () => 0),
      (listening) => listening > 0,
    )
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    const firefox = new Firefox(socket)
    await firefox.#call('WebDriver:NewSession', { capabilities: { alwaysMatch: {} } })
    return firefox
  }

  async goto(url: string): Promise<void> {
    await this.#call('Marionette:SetContext', { value: 'content' })
    await this.#call('WebDriver:Navigate', { url })
  }

  /** Runs a script in the page. */
  inPage(script: Script): Promise<unknown> {
    return this.#run('content', script)
  }

  /** Runs a script in the browser itself. */
  inBrowser(script: Script): Promise<unknown> {
    return this.#run('chrome', script)
  }

  async #run(context: 'content' | 'chrome', body: Script): Promise<unknown> {
    await this.#call('Marionette:SetContext', { value: context })
    const script = `const done = arguments[arguments.length - 1]
      ;(async () => { ${body} })().then((value) => done({ value }), (error) => done({ error: String(error) }))`
    const parameters = { script, args: [], scriptTimeout: 30_000 }
    const answer = (await this.#call('WebDriver:ExecuteAsyncScript', parameters)) as {
      readonly value: { readonly value?: unknown; readonly error?: string }
    }
    const { value, error } = answer.value
    if (error !== undefined) throw new Error(error)
    return value
  }

  async #call(name: string, parameters: object): Promise<unknown> {
    this.#sent += 1
    const id = this.#sent
    const answered = new Promise<Answered>((resolve) => this.#waiting.set(id, resolve))
    const text = JSON.stringify([0, id, name, parameters])
    this.#socket.write(`${Buffer.byteLength(text)}:${text}`)
    const [, , error, result] = await answered
    if (error !== null) throw new Error(`${name}: ${JSON.stringify(error)}`)
    return result
  }

  /** A message is its length in bytes, a colon, and JSON. The first one is a greeting. */
  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    for (;;) {
      const colon = this.#received.indexOf(':')
      const end = colon + 1 + Number(this.#received.subarray(0, Math.max(0, colon)))
      if (colon < 0 || this.#received.length < end) return
      const message: unknown = JSON.parse(this.#received.subarray(colon + 1, end).toString())
      this.#received = this.#received.subarray(end)
      if (!Array.isArray(message)) continue
      const answer = message as unknown as Answered
      this.#waiting.get(answer[1])?.(answer)
      this.#waiting.delete(answer[1])
    }
  }
}

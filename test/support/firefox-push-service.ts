// A stand-in for the push service of Firefox: browsers ask for endpoints over a WebSocket, and get
// there what is pushed to them, still encrypted.

import { randomBytes } from 'node:crypto'

import type { ExecutionContext } from 'ava'
import { App, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js'
import type { WebSocket } from 'uWebSockets.js'

import { isRecord } from '#domain/record'
import { WebPushServer } from '#test/support/web-push-server'
import type { WebPush } from '#test/support/web-push-server'

type Browser = WebSocket<object>

export class FirefoxPushService {
  /** The address for browsers. */
  readonly url: string
  /** The address for gateways. */
  readonly pushes: WebPushServer
  /** Every push so far, as the gateway sent it. */
  readonly taken: WebPush[] = []
  /** Pushes that a browser says it has decrypted. */
  acknowledged = 0
  readonly #channels = new Map<string, { readonly browser: Browser; readonly id: string }>()

  private constructor(port: number, pushes: WebPushServer) {
    this.url = `ws://127.0.0.1:${port}/`
    this.pushes = pushes
    pushes.taken = (push) => this.#pass(push)
  }

  static async start(t: ExecutionContext): Promise<FirefoxPushService> {
    const pushes = await WebPushServer.start()
    t.teardown(() => pushes.close())
    let service: FirefoxPushService | undefined
    const app = App().ws<object>('/*', {
      idleTimeout: 0,
      message: (browser, bytes) => service?.take(browser, Buffer.from(bytes).toString()),
    })
    const port = await new Promise<number>((resolve) => {
      app.listen('127.0.0.1', 0, (socket) => {
        if (socket === false) throw new Error('no free port')
        t.teardown(() => us_listen_socket_close(socket))
        resolve(us_socket_local_port(socket))
      })
    })
    t.teardown(() => app.close())
    service = new FirefoxPushService(port, pushes)
    return service
  }

  /** Answers a message of a browser. */
  take(browser: Browser, text: string): void {
    const sent: unknown = JSON.parse(text)
    if (!isRecord(sent)) return
    const { messageType, channelID: id } = sent
    const answer = (more: object): void =>
      void browser.send(JSON.stringify({ messageType, status: 200, ...more }))
    switch (messageType) {
      case 'hello':
        return answer({ uaid: randomBytes(16).toString('hex'), use_webpush: true, broadcasts: {} })
      case 'register': {
        const path = `/push/${randomBytes(8).toString('hex')}`
        this.#channels.set(path, { browser, id: String(id) })
        return answer({ channelID: id, pushEndpoint: this.pushes.origin() + path })
      }
      case 'unregister':
        return answer({ channelID: id })
      case 'ack':
        this.acknowledged += Array.isArray(sent['updates']) ? sent['updates'].length : 0
    }
  }

  #pass(push: WebPush): void {
    this.taken.push(push)
    const to = this.#channels.get(push.path)
    const notification = {
      messageType: 'notification',
      channelID: to?.id,
      version: randomBytes(8).toString('hex'),
      data: push.body.toString('base64url'),
      headers: { encoding: 'aes128gcm' },
    }
    to?.browser.send(JSON.stringify(notification))
  }
}

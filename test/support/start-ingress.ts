// An ingress on a free port with fakes behind it, and functions that talk to it.

import { connect } from 'node:net'
import type { Socket } from 'node:net'

import type { ExecutionContext } from 'ava'

import type { Probe } from '#domain/ports'
import { recordFrom } from '#domain/record'
import { createIngress } from '#src/ingress/ingress'
import type { Ingress, IngressOptions } from '#src/ingress/ingress'
import { acceptanceRig } from '#test/support/acceptance-rig'
import type { AcceptanceRig, AcceptanceRigOptions } from '#test/support/acceptance-rig'

export { addChannel, passwordWorkFor, quickDerive } from '#test/support/acceptance-rig'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

export interface Rig extends AcceptanceRig {
  readonly ingress: Ingress
  readonly port: number
  readonly url: string
  readonly post: (
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answered>
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Answered>
  readonly send: (path: string, init: RequestInit) => Promise<Answered>
  /** A raw connection, which gathers the answers. */
  readonly connect: () => Raw
}

/** A socket and all that it has received. */
export interface Raw {
  readonly socket: Socket
  readonly received: () => string
  /** Resolves once the received text matches, or the connection ends. */
  until(pattern: RegExp): Promise<string>
  readonly ended: Promise<void>
}

export interface RigOptions extends AcceptanceRigOptions, Partial<IngressOptions> {
  readonly probes?: readonly Probe[]
  readonly isOpen?: () => boolean
}

/** The channel CHANNEL with PASSWORD exists. Everything is closed when the test ends. */
export async function startIngress(t: ExecutionContext, options: RigOptions = {}): Promise<Rig> {
  const rig = await acceptanceRig(options)
  const { time } = rig
  const ingress = createIngress(
    {
      ...rig,
      timers: time,
      nowMs: time.nowMs,
      monotonicMs: time.monotonicMs,
      probes: options.probes ?? [],
      isOpen: options.isOpen ?? (() => true),
      metricsText: () => Promise.resolve('heliograph_up 1\n'),
      profile: () => ({ private_channel_enabled: true }),
      durability: () => 'embedded: fsync',
    },
    {
      http: { host: '127.0.0.1', port: 0 },
      tls: undefined,
      trustedProxies: [],
      statusRetentionMs: 7 * 86_400_000,
      version: '9.9.9',
      ...options,
    },
  )
  const port = await ingress.listen()
  t.teardown(() => {
    ingress.close()
    rig.acceptance.close()
  })
  return { ...rig, ingress, port, ...clientOf(t, port) }
}

/** `token`: the gateway token, which each request proves. */
export function clientOf(
  t: ExecutionContext,
  port: number,
  token?: string,
): Pick<Rig, 'url' | 'send' | 'post' | 'get' | 'connect'> {
  const url = `http://127.0.0.1:${port}`
  const send = async (path: string, init: RequestInit): Promise<Answered> => {
    const headers = new Headers(init.headers)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(url + path, { ...init, headers })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: recordFrom(text) }
  }
  return {
    url,
    send,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, body, headers = {}) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    connect: () => rawConnection(t, port),
  }
}

function rawConnection(t: ExecutionContext, port: number): Raw {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let changed = (): void => {}
  t.teardown(() => socket.destroy())
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    received += text
    changed()
  })
  // A reset is one of the ways a connection ends.
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return {
    socket,
    ended,
    received: () => received,
    async until(pattern) {
      const matched = new Promise<void>((resolve) => {
        changed = () => {
          if (pattern.test(received)) resolve()
        }
        changed()
      })
      await Promise.race([matched, ended])
      return received
    },
  }
}

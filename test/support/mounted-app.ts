// A small Koa application, as libraries with handlers for node:http are written, on a real ingress.

import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'

import type { ExecutionContext } from 'ava'
import Koa from 'koa'

import { mount } from '#src/ingress/mount'
import type { NodeHandler } from '#src/ingress/mount'
import { FakeLogger } from '#test/support/fake-telemetry'
import { startIngress } from '#test/support/start-ingress'
import type { Rig, RigOptions } from '#test/support/start-ingress'

/** Bytes of a body that the row takes. */
export const UPLOAD_BYTES_MAX = 200_000

export interface Mounted extends Rig {
  /** The stream of the newest answer of /app/events. */
  readonly events: () => PassThrough
  /** Callers that left an endless answer. */
  readonly left: () => number
}

/** Starts an ingress that has the application below /app. */
export async function startApp(
  t: ExecutionContext,
  options: RigOptions & { readonly handler?: NodeHandler; readonly bytesMax?: number } = {},
): Promise<Mounted> {
  let events = new PassThrough()
  let left = 0
  const koa = new Koa()
  koa.silent = true
  koa.use(async (ctx, next) => {
    switch (ctx.path) {
      case '/app/upload': {
        const body = await buffer(ctx.req)
        ctx.body = { bytes: body.length, type: ctx.get('content-type'), method: ctx.method }
        return
      }
      case '/app/idle':
        ctx.body = 'read nothing'
        return
      case '/app/login':
        ctx.cookies.set('session', 'a', { httpOnly: true })
        ctx.cookies.set('language', 'b')
        ctx.redirect('/app/done?ok=1')
        return
      case '/app/origin':
        ctx.body = {
          ip: ctx.ip,
          url: ctx.url,
          forwarded: ctx.get('forwarded') + ctx.get('x-forwarded-host'),
          from: ctx.get('x-forwarded-for'),
          id: ctx.get('x-request-id'),
          cookies: ctx.get('cookie'),
        }
        ctx.set('cache-control', 'max-age=60')
        return
      case '/app/events':
        events = new PassThrough()
        ctx.type = 'text/event-stream'
        ctx.body = events
        ctx.flushHeaders()
        ctx.res.once('close', () => (left += 1))
        return
      case '/app/nothing':
        ctx.status = 204
        return
      case '/app/large':
        ctx.body = Buffer.alloc(4_000_000, 'x')
        return
      case '/app/never':
        ctx.res.once('close', () => (left += 1))
        await new Promise(() => undefined)
        return
      default:
        await next()
    }
  })
  const row = mount({
    path: '/app/*',
    token: options.token === undefined ? 'none' : 'required',
    handler: options.handler ?? koa.callback(),
    bytesMax: options.bytesMax ?? UPLOAD_BYTES_MAX,
    logger: new FakeLogger(),
  })
  const rig = await startIngress(t, { styles: [() => [row]], ...options })
  return { ...rig, events: () => events, left: () => left }
}

/** Answers of mounted handlers that are being streamed. */
export const streams = ({ meter }: Rig): number => meter.gauges.get('mounted_streams')?.() ?? -1

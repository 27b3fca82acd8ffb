// The answers of the device-key style: `code` repeats the status.

import type { Fault } from '#domain/fault'
import { maskedKey } from '#src/compat/key'
import { imitation } from '#src/ingress/answerer'
import type { Answerer, Imitated } from '#src/ingress/answerer'
import type { Request } from '#src/ingress/request'
import { STATUS, lineOf } from '#src/refusals/refusal'
import { GUARDS, json } from '#src/compat/sending'

/** The outcome for one key of a batch. */
export interface Member {
  readonly code: number
  readonly device_key: string
  readonly message?: string
}

/** The outcome of a handler; `members` for a batch. */
export interface Pushed {
  readonly members?: readonly Member[]
}

/** The outcome for one key, without its password. */
export const memberOf = (key: string, fault: Fault | undefined): Member =>
  fault === undefined
    ? { code: 200, device_key: maskedKey(key) }
    : { code: STATUS[fault.code], device_key: maskedKey(key), message: messageOf(fault) }

/** A sentence that begins as the tool's own do: its clients look for that. */
function messageOf(fault: Fault): string {
  if (fault.field === 'device_key') return 'device key is empty'
  if (fault.code === 'channel_not_found') return `failed to get device token: ${lineOf(fault)}`
  if (fault.code.startsWith('invalid_json') || fault.code === 'malformed_body') {
    return `request bind failed: ${lineOf(fault)}`
  }
  return STATUS[fault.code] >= 500 ? `push failed: ${lineOf(fault)}` : lineOf(fault)
}

type Clock = Pick<Request, 'receivedAtMs'>

const outcome = (
  code: number,
  message: string,
  { request, data }: { readonly request: Clock; readonly data?: readonly Member[] | undefined },
): Imitated => {
  const timestamp = Math.floor(request.receivedAtMs / 1000)
  return json({ code, message, timestamp, data })
}

const failure = (fault: Fault, status: number, request: Clock): Imitated =>
  outcome(status, messageOf(fault), { request })

export const PUSHED: Answerer<Pushed> = imitation({
  success: ({ members }, request) => outcome(200, 'success', { request, data: members }),
  failure,
})

export const PONG: Answerer<object> = imitation({
  success: (_, request) => outcome(200, 'pong', { request }),
  failure,
})

export const TEXT_OK: Answerer<object> = imitation({
  success: () => ({ contentType: 'text/plain; charset=utf-8', headers: GUARDS, body: 'ok' }),
  failure,
})

// An ingress with the imitated tools, and the key of its channel as their clients send it.

import type { ExecutionContext } from 'ava'

import { compatibilityStyles } from '#src/compat/styles'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig, RigOptions } from '#test/support/start-ingress'

const KEPT_MS = 30 * 86_400_000

/** The key in a body. */
export const KEY = `${CHANNEL}:${PASSWORD}`
/** The key in a path. */
export const PATH_KEY = `${CHANNEL}:${encodeURIComponent(PASSWORD)}`
/** A key with a wrong password, in a path. */
export const WRONG_PATH_KEY = `${CHANNEL}:wrong+password`

/** The path of the channel in the topic style. */
export const TOPIC = `/compat-topic/${PATH_KEY}`
/** The same with a wrong password. */
export const WRONG_TOPIC = `/compat-topic/${WRONG_PATH_KEY}`

export const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded'
export const JSON_TYPE = 'Content-Type: application/json; charset=utf-8'

/** Gives the metadata of a style for values that a Message has no field for. */
export const keptBy =
  (style: 'devicekey' | 'sendkey' | 'topic') =>
  (values: Readonly<Record<string, unknown>>): object => ({
    metadata: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [`compat.${style}.${name}`, value]),
    ),
  })

/** An ingress that has every style. */
export const startStyles = (t: ExecutionContext, options: RigOptions = {}): Promise<Rig> =>
  startIngress(t, { styles: compatibilityStyles({ keptMs: KEPT_MS }), ...options })

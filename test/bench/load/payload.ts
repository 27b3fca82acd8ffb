// The requests of the standard workload: Thing updates of 302 bytes over things spread evenly over
// channels, ready as bytes, with two numbers left to write at the last moment.

/** Size of every request body, the one of the figures in the design (benchmarks.md). */
export const BODY_BYTES = 302

const OBSERVED_DIGITS = 13
const DUE_DIGITS = 16
/** Added to every due time, so that it always has as many digits. */
export const DUE_BASE_US = 10 ** (DUE_DIGITS - 1)

/** Channels and Things of the standard workload. */
export const CHANNEL_COUNT = 1_000
export const THING_COUNT = 10_000

export interface Recipe {
  /** The gateway token, or empty. */
  readonly token: string
  /** Keys of the channels that send; each names its channel. */
  readonly keys: readonly string[]
  readonly thingCount: number
  /** Present: updates do not say when they were due, so devices do not count their latency. */
  readonly isUntimed?: true
}

/** One prepared request, and where `stamp` writes the times of one use; absent: nowhere. */
export interface Prepared {
  readonly bytes: Buffer
  readonly observedAtOffset?: number
  readonly dueOffset?: number
}

/**
 * One request per thing. Thing i lives in the channel of key i mod keys. The order is a fixed
 * shuffle, so that a thing comes back after all others and two updates of one thing are never in
 * flight together.
 */
export function prepareRequests(recipe: Recipe): readonly Prepared[] {
  const { keys, thingCount } = recipe
  return shuffled(thingCount).map((thing) =>
    prepareRequest(recipe, keys[thing % keys.length] ?? '', thing),
  )
}

/** Writes the times of one use of a request into its bytes. */
export function stamp(prepared: Prepared, observedAtMs: number, dueUs: number): Buffer {
  const { bytes, observedAtOffset, dueOffset } = prepared
  if (observedAtOffset !== undefined) {
    bytes.write(String(observedAtMs), observedAtOffset, OBSERVED_DIGITS, 'latin1')
  }
  if (dueOffset !== undefined) {
    bytes.write(String(DUE_BASE_US + dueUs), dueOffset, DUE_DIGITS, 'latin1')
  }
  return bytes
}

function prepareRequest(recipe: Recipe, key: string, thing: number): Prepared {
  const bare = bodyOf(key, thing, '')
  const whole = bodyOf(key, thing, 'x'.repeat(BODY_BYTES - Buffer.byteLength(bare)))
  const body = recipe.isUntimed === true ? whole.replace('"due":', '"was":') : whole
  const authorization = recipe.token === '' ? '' : `authorization: Bearer ${recipe.token}\r\n`
  const text =
    `POST /thing/update HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}` +
    `content-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n${body}`
  return {
    bytes: Buffer.from(text, 'latin1'),
    observedAtOffset: text.indexOf('"observed_at":') + '"observed_at":'.length,
    ...(recipe.isUntimed !== true && { dueOffset: text.indexOf('"due":') + '"due":'.length }),
  }
}

function bodyOf(key: string, thing: number, note: string): string {
  return JSON.stringify({
    password: key,
    thing_id: thingIdOf(thing),
    observed_at: 10 ** (OBSERVED_DIGITS - 1),
    title: titleOf(thing),
    attrs: { ...attrsOf(thing), note },
  })
}

export const titleOf = (thing: number): string => `Sensor ${thing % 100}`

/** The attrs of a thing of the workload, without the note that fills its body. */
export const attrsOf = (thing: number) => ({
  temperature: 20 + (thing % 90) / 10,
  humidity: 40 + (thing % 50),
  battery: 100 - (thing % 70),
  online: true,
  due: DUE_BASE_US,
})

/** The client-made id of a thing of the workload. */
export const thingIdOf = (thing: number): string => `sensor-${String(thing).padStart(6, '0')}`

/** 0 … count-1 in an order that is mixed but the same on every run. */
export function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, index) => index)
  let state = 0x2545f491
  for (let index = count - 1; index > 0; index -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const other = state % (index + 1)
    const held = order[index] ?? 0
    order[index] = order[other] ?? 0
    order[other] = held
  }
  return order
}

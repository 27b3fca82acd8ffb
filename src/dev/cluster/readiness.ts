// Polls the readiness of a node and reports each change.

import { setTimeout as delay } from 'node:timers/promises'

import { recordFrom, recordOf } from '#domain/record'
import type { Fetch } from '#src/client/runtime'
import { onOneLine } from '#src/cli/terminal-text'

const ASK_AGAIN_MS = 250
/** The node itself gives its dependencies two seconds. */
const ANSWER_WITHIN_MS = 3_000

export interface ReadinessWatch {
  readonly baseUrl: string
  readonly fetch: Fetch
  /** Ends the watch. */
  readonly signal: AbortSignal
  /** Gets each change: `ready`, or `not ready` with the missing dependencies. */
  readonly changed: (isReady: boolean, text: string) => void
}

/** Resolves when the signal ends it. Reports nothing while the node starts. */
export async function watchReadiness(watch: ReadinessWatch): Promise<void> {
  let wasReady = false
  while (!watch.signal.aborted) {
    const missing = await missingAt(watch)
    if (watch.signal.aborted) return
    const isReady = missing === ''
    if (isReady !== wasReady) watch.changed(isReady, isReady ? 'ready' : `not ready: ${missing}`)
    wasReady = isReady
    await delay(ASK_AGAIN_MS, undefined, { signal: watch.signal }).catch(() => {})
  }
}

/** The dependencies that the node waits for, with the reasons; empty when it is ready. */
async function missingAt({ baseUrl, fetch: ask }: ReadinessWatch): Promise<string> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const answer = await ask(`${baseUrl}/readyz`, { signal })
    const body = await answer.text()
    return answer.ok ? '' : unreadyIn(body)
  } catch {
    return 'it does not answer'
  }
}

/** The dependencies that are not ready, from the body of an answer of /readyz; never empty. */
export function unreadyIn(body: string): string {
  const data = recordOf(recordFrom(body)['data'])
  const dependencies: unknown = data?.['dependencies']
  if (!Array.isArray(dependencies)) return 'it does not say why'
  const unready = dependencies.map(recordOf).filter((dependency) => dependency?.['ready'] === false)
  const texts = unready.map(
    (dependency) => `${String(dependency?.['name'])}: ${String(dependency?.['detail'])}`,
  )
  return texts.length === 0 ? 'it does not say why' : onOneLine(texts.join(', '))
}

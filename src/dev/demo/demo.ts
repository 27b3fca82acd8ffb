// heliograph demo: publishes this computer's live readings as Things, and shows the deliveries to a
// subscribed device on the terminal.

import { tmpdir } from 'node:os'

import { ACCESS, accessOf, checkSecrecy } from '#src/cli/access'
import { UsageError } from '#src/cli/endings'
import type { ProcessContext } from '#src/cli/process-context'
import { whole } from '#src/cli/values'
import { command, flag, withDefault } from '#src/cli/command'
import type { Given } from '#src/cli/command'
import { startOwnGateway } from './gateway.ts'
import { PushAudience } from './push-audience.ts'
import { runShow } from './show.ts'
import type { ShowOptions } from './show.ts'
import { summaryJson, summaryLine } from './tally.ts'
import type { Summary } from './tally.ts'

const OPTIONS = {
  seconds: whole('<count>', 1, 86_400, 'stop after so long'),
  threshold: withDefault(whole('<percent>', 1, 100, 'CPU use above which the load is high'), 80),
  open: flag('open the console in the browser'),
  plain: flag('one line a delivery, also on a terminal'),
  push: flag("show pushes beside it, by stand-ins for Apple's and Google's services"),
  ...ACCESS,
} as const

export const demo = command({
  description:
    'Starts a gateway of its own (or uses the one that --url names; HELIOGRAPH_URL is ' +
    'not used), publishes the load, memory, disks, network and busiest processes of this ' +
    'computer every second as Things, puts rules that open an Event while the load is high, a ' +
    'disk is nearly full or the computer is silent, and shows what a subscribed device receives. ' +
    'Ctrl-C stops it and removes its channel or gateway.',
  options: OPTIONS,
  examples: ['demo', 'demo --open', 'demo --seconds 30 --push'],
  async run(options, context) {
    await runDemo(options, context)
  },
})

async function runDemo(options: Given<typeof OPTIONS>, context: ProcessContext): Promise<void> {
  const access = await accessOf(options, context)
  const isOwn = options.url === undefined
  if (!isOwn && access.token === undefined) {
    throw new UsageError(
      'the demo sends more than a gateway takes without its token: set HELIOGRAPH_TOKEN',
    )
  }
  if (!isOwn) await checkSecrecy(access, context)
  const { seconds, threshold, plain, push, open: isOpened } = options
  if (!isOwn && push === true) {
    throw new UsageError('--push needs a gateway of its own: leave out --url')
  }
  const show = { seconds, threshold, plain, isOpened, json: access.json }
  const stopped = context.untilStopped()
  const summary = isOwn
    ? await showOnOwnGateway({ ...show, stopped, isPushed: push === true }, context)
    : await runShow({ ...show, ...access, stopped, isOwnGateway: false }, context)
  if (summary === undefined) return
  const line = access.json ? summaryJson(summary) : summaryLine(summary)
  context.terminal.print(line)
}

interface OwnShow extends Omit<ShowOptions, 'baseUrl' | 'token' | 'isOwnGateway' | 'pushes'> {
  readonly isPushed: boolean
}

/** Runs the demo on its own gateway; undefined when Ctrl-C stops it before the gateway is ready. */
async function showOnOwnGateway(
  { isPushed, ...show }: OwnShow,
  context: ProcessContext,
): Promise<Summary | undefined> {
  if (!isPushed) return showOn(show, context)
  const pushes = await PushAudience.start(tmpdir(), context.nowMs)
  try {
    return await showOn({ ...show, pushes }, context)
  } finally {
    await pushes.close()
  }
}

async function showOn(
  show: Omit<ShowOptions, 'baseUrl' | 'token' | 'isOwnGateway'>,
  context: ProcessContext,
): Promise<Summary | undefined> {
  const { env, fetch: ask } = context
  context.terminal.printDiagnostic('starting a gateway')
  const gateway = await startOwnGateway({
    env,
    fetch: ask,
    temporaryFolder: tmpdir(),
    signal: show.stopped,
    settings: show.pushes?.env,
  })
  if (gateway === undefined) return undefined
  const { baseUrl, token, failed } = gateway
  try {
    const stopped = AbortSignal.any([show.stopped, failed])
    return await runShow({ ...show, baseUrl, token, stopped, isOwnGateway: true }, context)
  } finally {
    await gateway.stop()
    failed.throwIfAborted()
  }
}

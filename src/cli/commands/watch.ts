// heliograph watch: shows what this computer receives as a subscribed device.

import { defined } from '#domain/record'
import type { ChannelId } from '#domain/identity'
import { MODELS } from '#domain/submission'
import { watch as openWatch } from '#src/client/watch'
import type { Watch, WatchEnd, WatchState } from '#src/client/watch'
import type { Delivery, Gap } from '#src/schemas/frames'
import { CHANNELS, allCredentialsOf } from '#src/cli/access'
import type { Proof } from '#src/cli/access'
import { DeliveryCommands } from '#src/cli/deliveries/delivery-commands'
import { coloured, deliveryLine } from '#src/cli/deliveries/delivery-line'
import { deliveryJson } from '#src/cli/deliveries/delivery-members'
import type { Named } from '#src/cli/deliveries/delivery-members'
import { readTemplate } from '#src/cli/deliveries/delivery-template'
import type { Decrypter } from '#src/cli/encryption'
import { CommandError, EXIT, UsageError } from '#src/cli/endings'
import { dateText, onOneLine } from '#src/cli/terminal-text'
import { decrypterFor } from '#src/cli/decrypter'
import { ENCRYPTION } from '#src/cli/encryption-options'
import { deliveryOf, since } from '#src/cli/since'
import type { ProcessContext, Terminal } from '#src/cli/process-context'
import { commandClientOf } from '#src/cli/command-client'
import type { CommandClient } from '#src/cli/command-client'
import { DEVICE, thisDevice } from '#src/cli/this-device'
import { whole } from '#src/cli/values'
import { choice, command, text, valued, withDefault } from '#src/cli/command'
import type { Given } from '#src/cli/command'

const JOBS_MAX = 64
const COUNT_MAX = 1_000_000_000
const TIMEOUT_MAX_S = 2_000_000
/** A narrower terminal breaks lines: what stands before the entry takes 62 characters. */
const WIDTH_MIN = 80

const OPTIONS = {
  format: valued(
    '<template>',
    'a line for each delivery, for example {channel_name}: {title} {attrs.temperature}',
    readTemplate,
  ),
  exec: text('<command>', 'runs a command of the shell for each delivery, in place of a line'),
  jobs: withDefault(whole('<count>', 1, JOBS_MAX, 'how many such commands run at once'), 1),
  since,
  model: choice('<model>', MODELS, 'only deliveries of this model'),
  count: whole('<count>', 1, COUNT_MAX, 'ends after so many deliveries'),
  timeout: whole('<seconds>', 1, TIMEOUT_MAX_S, 'ends with exit code 7 after so long'),
  ...ENCRYPTION,
  ...DEVICE,
  ...CHANNELS,
} as const

type WatchGiven = Given<typeof OPTIONS>

export const watch = command({
  description:
    'Registers this computer as a device, subscribes it to the channels that are named, and ' +
    'shows its deliveries until Ctrl-C. The next time it goes on where it stopped. A command ' +
    'of --exec reads the delivery as JSON from its standard input, and has it in variables: ' +
    'HELIOGRAPH_TITLE, HELIOGRAPH_MODEL, HELIOGRAPH_ENTITY_ID and others.',
  options: OPTIONS,
  examples: [
    'watch --channel 5HGD9DPWYHPR8YJ6ZKTA2XNKE4',
    'watch --since 1h --json | jq .payload',
    "watch --format '{time} {entity_id} {attrs.temperature}'",
    'watch --model message --exec \'notify-send "$HELIOGRAPH_TITLE" "$HELIOGRAPH_BODY"\'',
    'watch --count 1 --timeout 60',
  ],
  async run(options, context) {
    const { client, access } = await commandClientOf(options, context)
    const decrypt = await decrypterFor(options, context)
    await new WatchRun(options, context, { client, access, decrypt }).run()
  },
})

interface WatchParts extends Pick<CommandClient, 'client' | 'access'> {
  readonly decrypt: Decrypter
}

/** Runs the command once. */
class WatchRun {
  readonly #options: WatchGiven
  readonly #context: ProcessContext
  readonly #parts: WatchParts
  readonly #names = new Map<ChannelId, string>()
  /** The last seq of each channel that --since has shown. */
  readonly #shown = new Map<ChannelId, number>()
  readonly #show: (named: Named) => void | Promise<void>
  readonly #commands: DeliveryCommands | undefined
  readonly #over = new AbortController()
  #count = 0
  #cancelTimeout: () => void = () => {}

  constructor(options: WatchGiven, context: ProcessContext, parts: WatchParts) {
    this.#options = options
    this.#context = context
    this.#parts = parts
    const { exec, jobs } = options
    const { env, terminal } = context
    if (exec !== undefined) {
      const printDiagnostic = (line: string): void => terminal.printDiagnostic(line)
      this.#commands = new DeliveryCommands({ command: exec, jobs, env, printDiagnostic })
    }
    const commands = this.#commands
    const line = this.#lines()
    this.#show =
      commands === undefined
        ? (named) => terminal.print(line(named))
        : async (named) => await commands.run(named)
  }

  async run(): Promise<void> {
    const { client, access } = this.#parts
    const channels = await allCredentialsOf(this.#options, this.#context)
    const { deviceKey, isNew } = await thisDevice(this.#parts, this.#options, this.#context)
    if (isNew && channels.length === 0) {
      throw new UsageError('a new device is subscribed to nothing yet: name a channel by --channel')
    }
    for (const credentials of channels) {
      const { channel_name: name } = await client.channel.subscribe({
        ...credentials,
        device_key: deviceKey,
      })
      this.#names.set(credentials.channel_id, name)
    }
    const stopped = this.#stopSignal()
    await this.#showHistory(channels, stopped)
    const session = openWatch({
      baseUrl: access.baseUrl,
      deviceKey,
      token: access.token,
      client: 'heliograph watch',
      ...this.#handlers(),
      onState: (state) => stateLine(state, this.#context.terminal),
    })
    await this.#untilEnd(session, stopped)
  }

  /** Waits for the end of the session, and of the shell commands that it started. */
  async #untilEnd(session: Watch, stopped: AbortSignal): Promise<void> {
    const close = (): void => void session.close()
    stopped.addEventListener('abort', close)
    if (stopped.aborted) close()
    const ended = await session.ended
    this.#cancelTimeout()
    await this.#commands?.idle()
    throwFailureOf(ended)
    const { reason } = stopped as { readonly reason: unknown }
    if (reason instanceof CommandError) throw reason
  }

  /** Aborted by Ctrl-C, after --count, or with a CommandError after --timeout. */
  #stopSignal(): AbortSignal {
    const { timeout } = this.#options
    if (timeout !== undefined) {
      const end = (): void => {
        this.#over.abort(new CommandError(`${timeout} s are over`, EXIT.timeout))
      }
      this.#cancelTimeout = this.#context.after(timeout * 1000, end)
    }
    return AbortSignal.any([this.#context.untilStopped(), this.#over.signal])
  }

  #handlers() {
    const { terminal } = this.#context
    const names = this.#names
    return {
      onChannel: ({ channelId, channelName }: { channelId: ChannelId; channelName: string }) =>
        void names.set(channelId, channelName),
      onEntry: async (delivery: Delivery) => {
        // A handler that fails leaves its entry unacknowledged: the entry comes again next time.
        if (this.#over.signal.aborted) throw new CommandError('the watch is over')
        await this.#received(delivery)
      },
      onGap: (gap: Gap) => terminal.printDiagnostic(gapLine(gap, nameOf(names, gap.channelId))),
      onUnsubscribed: (id: ChannelId) =>
        terminal.printDiagnostic(`no longer subscribed to ${nameOf(names, id)}`),
    }
  }

  async #received(delivery: Delivery): Promise<void> {
    const { model, count } = this.#options
    const { channelId, seq } = delivery
    if (this.#over.signal.aborted || seq <= (this.#shown.get(channelId) ?? 0)) return
    if (model !== undefined && delivery.model !== model) return
    this.#count += 1
    const channelName = this.#names.get(channelId) ?? channelId
    const plaintext = await this.#parts.decrypt(delivery)
    await this.#show({ delivery, channelName, ...defined({ plaintext }) })
    if (count !== undefined && this.#count >= count) this.#over.abort()
  }

  /** Shows the entries since --since. */
  async #showHistory(channels: readonly Proof[], stopped: AbortSignal): Promise<void> {
    const sinceMs = this.#options.since?.(this.#context.nowMs())
    if (sinceMs === undefined) return
    for (const credentials of channels) {
      let cursor: string | undefined
      do {
        const page = await this.#parts.client.channel.history({
          ...credentials,
          since: sinceMs,
          ...defined({ cursor }),
        })
        for (const record of page.items) {
          await this.#received(deliveryOf(record))
          this.#shown.set(credentials.channel_id, record.seq)
        }
        cursor = page.next_cursor
      } while (cursor !== undefined && !stopped.aborted)
    }
  }

  #lines(): (named: Named) => string {
    const { format } = this.#options
    if (format !== undefined) return format
    if (this.#parts.access.json) return deliveryJson
    const { terminal } = this.#context
    return ({ delivery, channelName, plaintext }) => {
      const screen = terminal.screen()
      const line = deliveryLine(delivery, {
        channelName,
        clock: dateText,
        ...defined({ plaintext, width: screen && Math.max(screen.columns, WIDTH_MIN) }),
      })
      return screen?.hasColor === true ? coloured(delivery, line) : line
    }
  }
}

const nameOf = (names: ReadonlyMap<ChannelId, string>, id: ChannelId): string =>
  onOneLine(names.get(id) ?? id)

function gapLine({ from, to, reason }: Gap, channelName: string): string {
  const why = reason === 'retention' ? 'no longer kept' : 'the feed was reset'
  return `${channelName}: entries ${from} to ${to} are not delivered (${why})`
}

function stateLine(state: WatchState, terminal: Terminal): void {
  if (state.kind === 'waiting') {
    terminal.printDiagnostic(
      `${state.reason}; trying again in ${Math.ceil(state.delayMs / 1000)} s`,
    )
  } else if (state.kind === 'open') {
    terminal.printDiagnostic('watching; Ctrl-C stops')
  }
}

/** Throws the error of a watch that did not end by `close`. */
export function throwFailureOf(end: WatchEnd): void {
  if (end.kind === 'refused' || end.kind === 'failed') throw end.error
  if (end.kind === 'replaced') {
    throw new CommandError(
      'another session of this device took over; --device-key-file makes a second device',
    )
  }
}

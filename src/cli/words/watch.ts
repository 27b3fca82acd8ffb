// heliograph watch: this computer as a subscribed device.

import { parseDeviceKey } from '#domain/identity'
import type { ChannelId, DeviceKey } from '#domain/identity'
import type { Platform } from '#domain/device'
import type { Client } from '#src/client/client'
import { watch as openWatch } from '#src/client/watch'
import type { WatchEnd, WatchState } from '#src/client/watch'
import type { Gap } from '#src/schemas/frames'
import { CHANNELS, allCredentialsOf } from '#src/cli/access'
import { clockIn, deliveryJson, deliveryLine } from '#src/cli/delivery-line'
import { deviceKeyPath, readDeviceKeyFile, writeDeviceKeyFile } from '#src/cli/device-key-file'
import { CommandError, UsageError } from '#src/cli/endings'
import { onOneLine } from '#src/cli/plain-text'
import type { Surroundings, Terminal } from '#src/cli/surroundings'
import { given, talk } from '#src/cli/talk'
import { fileOption, word } from '#src/cli/word'
import type { Given } from '#src/cli/word'

const OPTIONS = {
  deviceKeyFile: fileOption('file for the key of the device; name another one for a second device'),
  ...CHANNELS,
} as const

export const watch = word({
  description:
    'Registers this computer as a device, subscribes it to the channels that are named, and ' +
    'shows what it receives until Ctrl-C. The next time it goes on where it stopped.',
  options: OPTIONS,
  examples: ['watch --channel 5HGD9DPWYHPR8YJ6ZKTA2XNKE4', 'watch --json | jq .payload'],
  async run(options, context) {
    await runWatch(options, context)
  },
})

async function runWatch(options: Given<typeof OPTIONS>, surroundings: Surroundings): Promise<void> {
  const { client, access } = await talk(options, surroundings)
  const { baseUrl, token, json } = access
  const channels = await allCredentialsOf(options, surroundings)
  const file = options.deviceKeyFile ?? deviceKeyPath(surroundings.env, baseUrl)
  const { deviceKey, isNew } = await registered(client, file)
  if (isNew && channels.length === 0) {
    throw new UsageError('a new device is subscribed to nothing yet: name a channel by --channel')
  }
  for (const credentials of channels) {
    await client.channel.subscribe({ ...credentials, device_key: deviceKey })
  }

  const names = new Map<ChannelId, string>()
  const clock = clockIn()
  const stopped = surroundings.untilStopped()
  const { terminal } = surroundings
  const session = openWatch({
    baseUrl,
    deviceKey,
    token,
    client: 'heliograph watch',
    onChannel: ({ channelId, channelName }) => void names.set(channelId, channelName),
    onEntry: (delivery) => {
      const channelName = names.get(delivery.channelId) ?? delivery.channelId
      const width = terminal.screen()?.columns
      const line = json
        ? deliveryJson(delivery, channelName)
        : deliveryLine(delivery, { channelName, clock, ...given({ width }) })
      terminal.print(line)
    },
    onGap: (gap) => terminal.complain(gapLine(gap, names.get(gap.channelId) ?? gap.channelId)),
    onUnsubscribed: (id) => terminal.complain(`no longer subscribed to ${nameOf(names, id)}`),
    onState: (state) => stateLine(state, terminal),
  })
  stopped.addEventListener('abort', () => void session.close())
  if (stopped.aborted) await session.close()
  conclude(await session.ended)
}

const nameOf = (names: ReadonlyMap<ChannelId, string>, id: ChannelId): string =>
  onOneLine(names.get(id) ?? id)

function gapLine({ from, to, reason }: Gap, channelName: string): string {
  const why = reason === 'retention' ? 'no longer kept' : 'the feed was reset'
  return `${onOneLine(channelName)}: entries ${from} to ${to} are not delivered (${why})`
}

function stateLine(state: WatchState, terminal: Terminal): void {
  if (state.kind === 'waiting') {
    terminal.complain(`${state.reason}; trying again in ${Math.ceil(state.delayMs / 1000)} s`)
  } else if (state.kind === 'open') {
    terminal.complain('watching; Ctrl-C stops')
  }
}

/** Throws unless this command closed the watch. */
export function conclude(end: WatchEnd): void {
  if (end.kind === 'refused' || end.kind === 'failed') throw end.error
  if (end.kind === 'replaced') {
    throw new CommandError(
      'another session of this device took over; --device-key-file makes a second device',
    )
  }
}

/** The device that the file names, known to the gateway; made where it is missing. */
async function registered(
  client: Client,
  file: string,
): Promise<{ readonly deviceKey: DeviceKey; readonly isNew: boolean }> {
  const known = readDeviceKeyFile(file)
  const answer = await client.device.register({
    platform: thisPlatform(),
    ...given({ device_key: known }),
  })
  const deviceKey = parseDeviceKey(answer.device_key)
  if (deviceKey === undefined) throw new CommandError('the gateway gave no usable device key')
  if (deviceKey !== known) writeDeviceKeyFile(file, deviceKey)
  return { deviceKey, isNew: deviceKey !== known }
}

const PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, Platform>>> = {
  darwin: 'macos',
  linux: 'linux',
  win32: 'windows',
  android: 'android',
}

export const thisPlatform = (): Platform => PLATFORMS[process.platform] ?? 'other'

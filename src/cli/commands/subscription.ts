// heliograph channel: subscribe, unsubscribe, sync; heliograph subscription: notify. They concern
// this computer as a device.

import type { BodyOf, Synced } from '#src/client/bodies'
import { ACCESS, CHANNEL, CHANNELS, allCredentialsOf, credentialsOf } from '#src/cli/access'
import { EXIT, UsageError } from '#src/cli/endings'
import { jsonFile, jsonIn } from '#src/cli/json-file'
import { HEADER, listWhole } from '#src/cli/paging'
import { commandClientOf } from '#src/cli/command-client'
import { DEVICE, knownDeviceKey, thisDevice } from '#src/cli/this-device'
import { command, parameter } from '#src/cli/command'

export const subscribe = command({
  description: 'Subscribes this computer to a channel; `heliograph watch` shows what arrives.',
  options: { ...DEVICE, ...CHANNEL },
  examples: ['channel subscribe --channel 5HGD9DPWYHPR8YJ6ZKTA2XNKE4'],
  async run(options, context) {
    const { client, access, report } = await commandClientOf(options, context)
    const credentials = await credentialsOf(options, context)
    const { deviceKey } = await thisDevice({ client, access }, options, context)
    const device = { ...credentials, device_key: deviceKey }
    report(await client.channel.subscribe(device))
  },
})

export const unsubscribe = command({
  description: 'Ends the subscription of this computer to a channel; no password is needed.',
  parameters: { id: parameter('<channel_id>', 'the id of the channel') },
  options: { ...DEVICE, ...ACCESS },
  examples: ['channel unsubscribe 5HGD9DPWYHPR8YJ6ZKTA2XNKE4'],
  async run(options, context) {
    const { client, access, report } = await commandClientOf(options, context)
    const { deviceKey } = await thisDevice({ client, access }, options, context)
    const subscription = { channel_id: options.id, device_key: deviceKey }
    report(await client.channel.unsubscribe(subscription))
  },
})

export const notify = command({
  description:
    'Chooses which pushes of a channel reach a device, and when they make no sound: by a file ' +
    'with the preferences as JSON. {} ends them.',
  parameters: {
    id: parameter('<channel_id>', 'the id of the channel'),
    file: jsonFile('the preferences'),
  },
  options: { ...DEVICE, ...ACCESS },
  examples: ['subscription notify 5HGD9DPWYHPR8YJ6ZKTA2XNKE4 night.json'],
  async run(options, context) {
    const { client, access, report } = await commandClientOf(options, context)
    const device_key = knownDeviceKey(access, options, context)
    const preferences = (await jsonIn(options.file, context)) as Preferences
    report(await client.channel.notify({ device_key, channel_id: options.id, notify: preferences }))
  },
})

type Preferences = BodyOf<'/channel/notify'>['notify']

export const sync = command({
  description:
    'Subscribes this computer to the channels that are named, and to no other: where none fails, ' +
    'its other subscriptions end. With one that fails the exit code is 1.',
  options: { ...DEVICE, ...CHANNELS, ...HEADER },
  examples: [
    'channel sync --channel 5HGD9DPWYHPR8YJ6ZKTA2XNKE4 --channel ZNEDK7CD2XAK41E6XC3HDV7SCW',
  ],
  async run(options, context) {
    const { client, access } = await commandClientOf(options, context)
    const channels = await allCredentialsOf(options, context)
    if (channels.length === 0) throw new UsageError('name the channels by --channel')
    const { deviceKey } = await thisDevice({ client, access }, options, context)
    const synced = await client.channel.sync({ device_key: deviceKey, channels })
    const listing = {
      items: synced.channels,
      headings: ['CHANNEL', 'RESULT', 'NAME'],
      cells: ({ channel_id: id, channel_name: name = '', error_code: code }: SyncedChannel) => [
        id,
        code ?? 'subscribed',
        name,
      ],
    }
    await listWhole(listing, options, context)
    return synced.failed > 0 ? EXIT.refused : EXIT.ok
  },
})

type SyncedChannel = Synced['channels'][number]

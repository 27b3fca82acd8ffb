// heliograph channel: subscribe, unsubscribe. This computer as a device of a channel.

import { ACCESS, CHANNEL, credentialsOf } from '#src/cli/access'
import { talk } from '#src/cli/talk'
import { DEVICE, thisDevice } from '#src/cli/this-device'
import { parameter, word } from '#src/cli/word'

export const subscribe = word({
  description: 'Subscribes this computer to a channel; `heliograph watch` shows what arrives.',
  options: { ...DEVICE, ...CHANNEL },
  examples: ['channel subscribe --channel 5HGD9DPWYHPR8YJ6ZKTA2XNKE4'],
  async run(options, context) {
    const talking = await talk(options, context)
    const credentials = await credentialsOf(options, context)
    const { deviceKey } = await thisDevice(talking, options, context)
    const device = { ...credentials, device_key: deviceKey }
    talking.report(await talking.client.channel.subscribe(device))
  },
})

export const unsubscribe = word({
  description: 'Ends the subscription of this computer to a channel; no password is needed.',
  parameters: { id: parameter('<channel_id>', 'the id of the channel') },
  options: { ...DEVICE, ...ACCESS },
  examples: ['channel unsubscribe 5HGD9DPWYHPR8YJ6ZKTA2XNKE4'],
  async run(options, context) {
    const talking = await talk(options, context)
    const { deviceKey } = await thisDevice(talking, options, context)
    const subscription = { channel_id: options.id, device_key: deviceKey }
    talking.report(await talking.client.channel.unsubscribe(subscription))
  },
})

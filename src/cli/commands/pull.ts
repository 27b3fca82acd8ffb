// heliograph pull, heliograph ack: show and acknowledge deliveries without a session.

import { defined } from '#domain/record'
import { ACCESS } from '#src/cli/access'
import { FEED, listEntries } from '#src/cli/deliveries/entry-list'
import { commandClientOf } from '#src/cli/command-client'
import { DEVICE, knownDeviceKey } from '#src/cli/this-device'
import { WHOLE } from '#src/cli/paging'
import { whole } from '#src/cli/values'
import { command, flag, someOf } from '#src/cli/command'

/** The most that the gateway takes in one request. */
const AT_ONCE_MAX = 200

export const pull = command({
  description:
    'Shows the deliveries that wait for this computer, the oldest first. Each comes again until ' +
    'this computer acknowledges it: by --ack, or by `heliograph ack`.',
  options: {
    limit: whole('<count>', 1, AT_ONCE_MAX, 'how many at most'),
    ack: flag('acknowledges the printed deliveries'),
    ...FEED,
    ...DEVICE,
    ...ACCESS,
  },
  examples: ['pull --ack', "pull --limit 1 --format '{delivery_id} {title}'"],
  async run(options, context) {
    const { client, access } = await commandClientOf(options, context)
    const device = { device_key: knownDeviceKey(access, options, context) }
    const { items, has_more: hasMore } = await client.messages.pull({
      ...device,
      ...defined({ limit: options.limit }),
    })
    const page = () => Promise.resolve({ items })
    await listEntries({ page, hasChannel: true }, { ...options, ...WHOLE }, context)
    const ids = items.map(({ delivery_id: id }) => id)
    if (options.ack === true && ids.length > 0) {
      await client.messages.ack({ ...device, delivery_ids: ids })
    }
    if (hasMore) {
      context.terminal.printDiagnostic(
        `there is more: pull again${options.ack ? '' : ' with --ack'}`,
      )
    }
  },
})

export const ack = command({
  description:
    'Acknowledges deliveries, in any order: they do not come again, neither to `heliograph pull` ' +
    'nor to `heliograph watch`.',
  parameters: { ids: someOf('<delivery_id...>', 'the deliveries', AT_ONCE_MAX) },
  options: { ...DEVICE, ...ACCESS },
  examples: ['ack 5HGD9DPWYHPR8YJ6ZKTA2XNKE4-17 5HGD9DPWYHPR8YJ6ZKTA2XNKE4-18'],
  async run(options, context) {
    const { client, access, report } = await commandClientOf(options, context)
    const device = { device_key: knownDeviceKey(access, options, context) }
    report(await client.messages.ack({ ...device, delivery_ids: options.ids }))
  },
})

// Deliveries as a device receives them.

import type { Delivery } from '#src/schemas/frames'
import { readGatewayFrame } from '#src/schemas/read-frames'

/** An update of the Thing `boiler`, with other members in place. */
export function delivery(members: Readonly<Record<string, unknown>>): Delivery {
  const frame = readGatewayFrame(
    JSON.stringify({
      type: 'deliver',
      channel_id: '01234567890123456789012344',
      seq: 7,
      delivery_id: '01234567890123456789012344-7',
      op_id: 'op',
      model: 'thing',
      action: 'update',
      entity_id: 'boiler',
      accepted_at: Date.UTC(2026, 0, 31, 12, 3, 44),
      payload: {},
      ...members,
    }),
  )
  if (frame?.kind !== 'deliver') throw new Error('the frame is a delivery')
  return frame
}

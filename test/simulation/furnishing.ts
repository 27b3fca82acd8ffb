// Furnishes a world, while all is well: channels, and everything that follows them.

import type { Served } from './asking.ts'
import { happens, oneOf } from './chance.ts'
import type { Clients, PushDevice } from './clients.ts'
import type { Network } from './device-connection.ts'
import { SimulatedDevice } from './device.ts'
import { SimulatedMqttClient } from './mqtt-client.ts'
import type { Observations } from './observations.ts'
import { RULE_KINDS } from './rules-of-channels.ts'
import type { Swarm } from './swarm.ts'

export interface Subscriber {
  readonly key: string
  readonly device: SimulatedDevice
}

/** A network on which a process that takes requests is found. */
export interface FindingNetwork extends Network {
  readonly find: () => Served | undefined
}

interface Furnished {
  readonly swarm: Swarm
  readonly clients: Clients
  readonly observations: Observations
  readonly devices: Subscriber[]
  readonly pushDevices: PushDevice[]
}

/** Makes channels, devices and MQTT clients, and their subscriptions. */
export async function furnish(world: Furnished, network: FindingNetwork): Promise<void> {
  const { swarm, clients, observations, pushDevices } = world
  const { chance } = network
  for (let count = 0; count < swarm.channels; count += 1) {
    const isRuled = happens(chance, swarm.ruled)
    await clients.createChannel(isRuled ? oneOf(chance, RULE_KINDS) : undefined)
  }
  for (let count = 0; count < swarm.devices; count += 1) await addDevice(world, network, count)
  for (let count = 0; count < swarm.pushDevices; count += 1) {
    const device = await clients.registerPushDevice(count)
    if (device === undefined) continue
    pushDevices.push(device)
    for (const channel of clients.channels) await clients.join(device, channel)
  }
  for (let number = 1; number <= swarm.mqttClients; number += 1) {
    const channel = oneOf(chance, clients.channels)
    clients.mqtt.push(new SimulatedMqttClient({ ...network, number, channel, observations }))
  }
}

async function addDevice(
  { clients, devices, observations }: Furnished,
  network: FindingNetwork,
  count: number,
): Promise<void> {
  const { chance, find } = network
  const key = await clients.registerDevice()
  if (key === undefined) return
  const device = new SimulatedDevice({
    ...network,
    name: `device ${count}`,
    deviceKey: key,
    observations,
    find: () => {
      const found = find()
      return found && { sessions: found.stages.sessions, owner: found.owner }
    },
  })
  devices.push({ key, device })
  for (const channel of clients.channels) {
    if (chance(3) > 0) await clients.join({ key }, channel)
  }
}

// Composes MQTT: its sessions, and the doors that its settings turn on. A module of its own, as a
// gateway without MQTT loads none of it.

import type { Backend, BackendEdge } from './backend.ts'
import { limitsOf, proxyCheckOf, webSocketsOf } from './doors.ts'
import { certificateOf } from './private-certificate.ts'
import type { StageEdge } from './stages.ts'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Config } from '#src/config/config'
import type { Door } from '#src/doors/door'
import type { Ingress } from '#src/ingress/ingress'
import { createMqttTcpListener } from '#src/mqtt/carriers/tcp'
import { createMqttWebSocketListener } from '#src/mqtt/carriers/websocket'
import { MqttDoor } from '#src/mqtt/door'

interface MqttStage {
  readonly backend: Pick<Backend, 'bus' | 'onLoss' | 'stores'>
  readonly acceptance: Acceptance
  /** False while the process takes no requests. */
  readonly isOpen: () => boolean
}

/** The sessions of MQTT clients, over the backend's stores and bus. */
export function composeMqtt(
  { token, deviceRetentionMs }: Pick<Config, 'token' | 'deviceRetentionMs'>,
  edge: StageEdge,
  { backend, acceptance, isOpen }: MqttStage,
): MqttDoor {
  const door = new MqttDoor(
    { ...edge, ...backend.stores, acceptance, bus: backend.bus, isOpen },
    { keysOnly: token !== '', keptMsMax: deviceRetentionMs },
  )
  backend.onLoss(() => door.recheck())
  return door
}

export interface MqttParts extends MqttStage {
  readonly ingress: Ingress
}

/** The doors of MQTT: listeners over one set of connections, which drain together. */
export function composeMqttDoors(
  config: Config,
  edge: BackendEdge,
  { ingress, ...parts }: MqttParts,
): readonly Door[] {
  const { plain, tls, overWebSocket } = config.mqtt
  const door = composeMqtt(config, edge, parts)
  const open = door.open.bind(door)
  const ports = { open, limits: limitsOf('mqtt', config, edge), runtime: edge.runtime }
  const isTrustedProxy = proxyCheckOf(config)
  const certificate = certificateOf(config.privateTransports)
  const [named, namedTls] = [
    { name: 'mqtt', setting: 'SERVICE_MQTT_ADDR', certificate: undefined },
    { name: 'mqtts', setting: 'SERVICE_MQTT_TLS_ADDR', certificate },
  ] as const
  const listeners = [
    plain && createMqttTcpListener({ ...plain, ...named, isTrustedProxy }, ports),
    tls && createMqttTcpListener({ ...tls, ...namedTls, isTrustedProxy }, ports),
    overWebSocket && createMqttWebSocketListener({ ...webSocketsOf(ingress), ...ports }),
  ]
  return listeners
    .filter((listener) => typeof listener === 'object')
    .map((listener) => ({
      ...listener,
      drain: () => door.drain(),
      close: async () => {
        door.close()
        await listener.close()
      },
    }))
}

// The door of MQTT over real listeners.

import type { ExecutionContext } from 'ava'
import { App } from 'uWebSockets.js'

import type { SlotBounds } from '#domain/bounds/slots'
import type { Listener, ReadCertificate } from '#src/doors/door'
import { ConnectionLimits } from '#src/doors/connection-limits'
import { createMqttTcpListener } from '#src/mqtt/carriers/tcp'
import { createMqttWebSocketListener } from '#src/mqtt/carriers/websocket'
import type { WssHost } from '#src/transports/carriers/upgrade'
import { mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { realRuntime } from '#test/support/real-runtime'
import { ENDPOINT, listen } from '#test/support/wss-server'

export interface ServedMqtt extends MqttRig {
  readonly port: number
  readonly listener: Listener
}

const FEW: SlotBounds = { total: 4, perAddress: 4 }

/** Listens until the test ends, with TLS when there is a certificate. */
export async function serveMqtt(
  t: ExecutionContext,
  certificate?: ReadCertificate,
  limits = FEW,
): Promise<ServedMqtt> {
  const rig = await mqttRig(t)
  const listener = createMqttTcpListener(
    {
      name: 'mqtt',
      setting: 'SERVICE_MQTT_ADDR',
      host: '127.0.0.1',
      port: 0,
      certificate,
      isTrustedProxy: () => false,
    },
    {
      open: rig.door.open.bind(rig.door),
      limits: new ConnectionLimits('mqtt', limits, rig.meter),
      runtime: { ...realRuntime, after: rig.time.after },
    },
  )
  t.teardown(() => listener.close())
  return { ...rig, listener, port: await listener.listen() }
}

/** The same over WebSocket. */
export async function serveMqttOverWebSocket(
  t: ExecutionContext,
  bounds = FEW,
): Promise<MqttRig & { readonly port: number }> {
  const rig = await mqttRig(t)
  const app = App()
  const limits = new ConnectionLimits('mqtt', bounds, rig.meter)
  const host: WssHost = { mount: (apply) => apply(app), listen: () => listen(app) }
  const open = rig.door.open.bind(rig.door)
  const port = await createMqttWebSocketListener({ ...ENDPOINT, open, limits, host }).listen()
  t.teardown(() => app.close())
  return { ...rig, port }
}

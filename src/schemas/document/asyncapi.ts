// The AsyncAPI 3 document of device sessions, made of the schemas of their frames.

import { PROTOCOL, WSS_PATH } from '#src/schemas/frames'
import type { JsonSchema } from '#src/schemas/json-schema'
import {
  DEVICE_FRAMES,
  DEVICE_FRAME_RULE,
  GATEWAY_FRAMES,
  frameSchema,
} from '#src/schemas/session/frame-schemas'
import { Components, pascal } from './components.ts'
import type { FrameForm } from '#src/schemas/session/frame-schemas'

/** The side that sends a frame. */
type Side = 'Device' | 'Gateway'

interface Message {
  readonly name: string
  readonly side: Side
  readonly content: JsonSchema
}

/** The document as plain data. */
export function asyncApiDocument(version: string): JsonSchema {
  const components = new Components()
  const messages = [
    ...messagesOf('Device', DEVICE_FRAMES, components),
    ...messagesOf('Gateway', GATEWAY_FRAMES, components),
  ]
  const named = messages.map(({ name }) => [name, { $ref: `#/components/messages/${name}` }])
  const document: JsonSchema = {
    asyncapi: '3.0.0',
    info: {
      title: 'Heliograph sessions',
      version,
      description:
        'Carries the entries of subscribed Channels to a device. Over TCP and QUIC the same ' +
        `frames have four bytes of length in front, big-endian. ${DEVICE_FRAME_RULE}`,
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      gateway: {
        host: '{host}',
        protocol: 'ws',
        description: 'The gateway that gave this document; wss behind TLS.',
        variables: { host: { default: '127.0.0.1:8080' } },
      },
    },
    channels: {
      session: {
        address: WSS_PATH,
        title: 'The session of a device',
        servers: [{ $ref: '#/servers/gateway' }],
        messages: Object.fromEntries(named) as JsonSchema,
        bindings: { ws: { method: 'GET', headers: HEADERS, bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      takeFrames: operation('receive', 'Device', messages),
      sendFrames: operation('send', 'Gateway', messages),
    },
    components: {
      messages: Object.fromEntries(messages.map(({ name, content }) => [name, content])),
      schemas: components.schemas,
    },
  }
  // Without the readers and writers that schemas carry (members.ts).
  return JSON.parse(JSON.stringify(document)) as JsonSchema
}

/** What the upgrade to a WebSocket has. */
const HEADERS: JsonSchema = {
  type: 'object',
  properties: {
    'sec-websocket-protocol': { type: 'string', const: PROTOCOL },
    authorization: { type: 'string', description: 'Bearer and the gateway token, if it has one.' },
  },
  required: ['sec-websocket-protocol'],
}

const messagesOf = (
  side: Side,
  forms: Readonly<Record<string, FrameForm>>,
  components: Components,
): readonly Message[] =>
  Object.values(forms).map((form) => {
    const name = `${side}${pascal(form.type)}`
    const payload = components.refer(frameSchema(form), name)
    return { name, side, content: { name: form.type, summary: `${form.summary}.`, payload } }
  })

/** `action` is that of the gateway. */
const operation = (
  action: 'send' | 'receive',
  side: Side,
  messages: readonly Message[],
): JsonSchema => ({
  action,
  channel: { $ref: '#/channels/session' },
  summary: `The frames of the ${side.toLowerCase()}.`,
  messages: messages
    .filter((message) => message.side === side)
    .map(({ name }) => ({ $ref: `#/channels/session/messages/${name}` })),
})

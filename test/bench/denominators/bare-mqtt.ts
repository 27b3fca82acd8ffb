// D11: bare MQTT over node:net. Parses each packet with mqtt-packet and acknowledges it at once;
// keeps nothing. No gateway on that library is faster.

import { createServer } from 'node:net'

import { generate, parser } from 'mqtt-packet'
import type { Packet } from 'mqtt-packet'

import { announceListening, httpPort } from './listening.ts'

const answerTo = ({ cmd, messageId = 0 }: Packet): Packet | undefined => {
  if (cmd === 'connect') return { cmd: 'connack', returnCode: 0, sessionPresent: false }
  return cmd === 'publish' ? { cmd: 'puback', messageId } : undefined
}

const server = createServer({ noDelay: true }, (socket) => {
  const reader = parser()
  const answers: Buffer[] = []
  reader.on('packet', (packet) => {
    const answer = answerTo(packet)
    if (answer !== undefined) answers.push(generate(answer))
  })
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => {
    reader.parse(bytes)
    if (answers.length > 0) socket.write(Buffer.concat(answers.splice(0)))
  })
})

server.listen(httpPort(), '127.0.0.1', 4_096, () =>
  announceListening(server.listening, () => server.close()),
)

// D8: bare uWebSockets.js over TLS. Takes WebSockets and says nothing; keeps nothing for them. No
// gateway on this library needs less for a device.

import { SSLApp } from 'uWebSockets.js'
import { announceListening, httpPort } from './listening.ts'

const app = SSLApp({
  cert_file_name: process.env['SERVICE_HTTP_TLS_CERT'] ?? '',
  key_file_name: process.env['SERVICE_HTTP_TLS_KEY'] ?? '',
})

app.ws('/*', { idleTimeout: 0, sendPingsAutomatically: false, message: () => undefined })

app.listen('127.0.0.1', httpPort(), (socket) =>
  announceListening(socket !== false, () => app.close()),
)

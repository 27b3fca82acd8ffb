import { createServer } from 'node:net'

/**
 * The system's code for the reason why an address cannot be bound. uWebSockets.js says only that it
 * failed; trying again with Node gives the reason.
 */
export function whyNotBound(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error) => resolve('code' in error ? String(error.code) : error.name))
    probe.listen({ host, port, exclusive: true }, () => {
      probe.close(() => resolve('the address is taken or not usable'))
    })
  })
}

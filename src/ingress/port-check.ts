import { createServer } from 'node:net'

/**
 * Why an address cannot be listened on, as the system's code. uWebSockets.js says only that it
 * failed; asking the system again gives the reason.
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

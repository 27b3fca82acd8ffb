// Starts and stops a denominator as the product does, so that the bench treats both alike.

/** The port of SERVICE_HTTP_ADDR. */
export const httpPort = (): number =>
  Number(process.env['SERVICE_HTTP_ADDR']?.split(':').at(-1) ?? 0)

/** Prints the line the bench waits for, and stops at SIGTERM. */
export function announceListening(isListening: boolean, stop: () => void): void {
  if (!isListening) {
    console.error('the port is taken')
    process.exit(1)
  }
  console.log(JSON.stringify({ fact: 'listening', port: httpPort() }))
  process.once('SIGTERM', () => {
    stop()
    process.exit(0)
  })
}

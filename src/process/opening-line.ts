// What a person at a terminal reads once the gateway listens.

import type { Config } from '#src/config/config'

const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** The address to open in a browser, as one line with its end; empty without the console. */
export function openingLine(
  { console, http, tls, publicBaseUrl }: Pick<Config, 'console' | 'http' | 'tls' | 'publicBaseUrl'>,
  port: number,
): string {
  if (!console) return ''
  const name = EVERYWHERE.has(http.host) ? 'localhost' : http.host
  const host = name.includes(':') ? `[${name}]` : name
  const scheme = tls === undefined ? 'http' : 'https'
  return `open ${publicBaseUrl ?? `${scheme}://${host}:${port}`}/console/\n`
}

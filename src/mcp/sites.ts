// The check of Host and Origin: a page of another site must not reach a gateway that listens beside
// the browser, also when its name was rebound to this address.

import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'

/** Makes the check: this host and the names of the loopback are allowed. */
export function siteCheck(baseUrl: string): (host: string, origin: string) => Fault | undefined {
  const names = [...new Set([new URL(baseUrl).hostname, ...localhostAllowedHostnames()])]
  return (host, origin) => {
    const isAllowed = validateHostHeader(host, names).ok && validateOriginHeader(origin, names).ok
    return isAllowed ? undefined : fault('origin_not_allowed')
  }
}

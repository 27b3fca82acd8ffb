// The address of the console for the demo's channel, and the browser that opens it.

import { spawn } from 'node:child_process'

/** What a link to the demo's own gateway carries. All of it ends with the demo. */
export interface DemoAccess {
  readonly channelId: string
  /** A secret. */
  readonly password: string
  /** A secret. */
  readonly token: string | undefined
}

/**
 * The address of the console. With access it opens the channel: the secrets of the demo stand
 * behind the #, which no browser sends.
 */
export function consoleAddress(baseUrl: string, access: DemoAccess | undefined): string {
  if (access === undefined) return `${baseUrl}/console/`
  const { channelId, password, token = '' } = access
  const parts = [channelId, password, token].map(encodeURIComponent).join('/')
  return `${baseUrl}/console/#/open/${parts.replace(/\/$/, '')}`
}

const OPENERS: Readonly<Record<string, readonly [program: string, ...options: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens an address in the person's browser; calls back when this computer has no way to. */
export function openBrowser(
  address: string,
  failed: () => void,
  platform = process.platform,
): void {
  const [program, ...options] = OPENERS[platform] ?? ['xdg-open']
  const opener = spawn(program, [...options, address], { detached: true, stdio: 'ignore' })
  opener.once('error', failed)
  opener.unref()
}

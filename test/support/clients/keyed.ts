// What a program with a key works with: a channel, its key, and a folder for its files.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { ExecutionContext } from 'ava'

import { post, temporaryFolder } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

export const PASSWORD = 'correct horse battery'

/** A gateway with a channel, and the environment of a program that has its key. */
export async function keyed(t: ExecutionContext, gateway: Gateway) {
  const made = await post(gateway, '/channel/create', { channel_name: 'a', password: PASSWORD })
  const who = { channel_id: made.body.data['channel_id'], password: PASSWORD }
  const { data } = (await post(gateway, '/channel/key', who)).body
  const env = { ...process.env, HELIOGRAPH_KEY: String(data['key']) }
  const folder = await temporaryFolder(t)
  const program = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text.replaceAll('127.0.0.1:8080', new URL(gateway.baseUrl).host))
    return path
  }
  return { gateway, who, env, folder, program }
}

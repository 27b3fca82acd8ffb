import { mkdirSync, mkdtempSync } from 'node:fs'
import { keyedChannels } from '#test/bench/rig/channel-keys'
import { addHistory } from '#test/bench/rig/database'
import { databaseIn, startGateway } from '#test/bench/rig/gateway'
import { prepareKeyed } from '#test/bench/rig/keyed'
const directory = mkdtempSync('/tmp/zz/export-')
mkdirSync(directory, { recursive: true })
const token = await prepareKeyed(directory, { channels: 1, stored: 10_000 })
await addHistory(databaseIn(directory), Number(process.env['N'] ?? 10_000_000))
const server = await startGateway(directory, token)
const [c] = keyedChannels(1)
const { writeFileSync } = await import('node:fs')
writeFileSync('/tmp/zz/env', `HELIOGRAPH_URL=http://127.0.0.1:${server.port}\nHELIOGRAPH_TOKEN=${token}\nHELIOGRAPH_CHANNEL=${c!.channelId}\nHELIOGRAPH_PASSWORD=${c!.key}\n`)
console.log('ready', directory)
setInterval(() => {}, 1000)

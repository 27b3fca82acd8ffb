// Goal: a script that pulls now and then gets every delivery once, and decrypts ciphertext.
// Method: one gateway, two channels; command lines one after the other, in this process with real
// requests.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import test from 'ava'

import { temporaryFolder } from '#test/support/gateway'
import { json, runAt } from '#test/support/real-command-line'
import type { Env } from '#test/support/real-command-line'
import { standingGateway } from '#test/support/standing'

test.serial('a script pulls, acknowledges, and decrypts ciphertext', async (t) => {
  const gateway = await standingGateway()
  const folder = await temporaryFolder(t)
  const env: Env = {
    XDG_STATE_HOME: folder,
    HELIOGRAPH_URL: gateway.baseUrl,
    HELIOGRAPH_TOKEN: gateway.token,
    HELIOGRAPH_PASSWORD: 'correct-horse',
    HELIOGRAPH_PASSPHRASE: 'five random words are enough',
  }
  const ends = async (exitCode: number, words: string, input = '') => {
    const ended = await runAt(words, env, input)
    t.is(ended.exitCode, exitCode, `${words}: ${ended.diagnostics.join()}`)
    return ended.printed
  }
  const create = async (name: string): Promise<string> =>
    String(json((await ends(0, `channel create ${name} --json`))[0])['channel_id'])
  const [home, site] = [await create('Home'), await create('Site')]

  await ends(2, 'pull')
  t.is((await ends(0, `channel sync --channel ${home} --channel ${site}`)).length, 2)
  for (const channel of [home, site]) {
    const words = `send --title Code --plaintext-file - --channel ${channel} --json`
    const [line] = await ends(0, words, `Only for ${channel}\n`)
    await ends(0, `status ${String(json(line)['op_id'])} --wait`)
  }
  const texts = [home, site].map((channel) => `Only for ${channel}`).toSorted()
  const pull = "pull --format '{plaintext}'"
  t.deepEqual((await ends(0, pull)).toSorted(), texts)
  const [first] = await ends(0, "pull --limit 1 --format '{delivery_id}'")
  t.like(json((await ends(0, `ack ${first} --json`))[0]), { removed_count: 1 })
  t.is((await ends(0, `${pull} --ack`)).length, 1)
  t.deepEqual(await ends(0, pull), [])
  const channels = `--channel ${home} --channel ${site}`
  const watching = `watch ${channels} --since all --count 2 --timeout 60 --format '{plaintext}'`
  t.deepEqual((await ends(0, watching)).toSorted(), texts)
  t.deepEqual(await ends(0, `history --channel ${home} --format '{plaintext}'`), [
    `Only for ${home}`,
  ])

  await ends(1, `channel sync --channel ${home} --channel ${'0'.repeat(26)}`)
  await ends(0, `channel sync --channel ${home}`)
  const token = join(folder, 'token')
  writeFileSync(token, 'ab'.repeat(32))
  const phone = `--device-key-file ${join(folder, 'phone.key')}`
  await ends(0, `device register --platform ios ${phone}`)
  await ends(2, `device register --platform android ${phone}`)
  await ends(7, `watch --count 1 --timeout 1 ${phone}`)
  await ends(0, `device route apns --provider-token-file ${token} ${phone}`)
  await ends(0, `device retire-token --platform ios --provider-token-file ${token}`)
  await ends(0, `device route private ${phone}`)
})

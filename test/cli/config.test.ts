// Goal: a config file keeps lasting settings, and the order of the sources is certain.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { CHANNEL, ENV, PASSWORD, TOKEN, run } from '#test/support/command-line'
import { success } from '#test/support/fake-process-context'

function folderFor(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

const fileIn = (folder: string): string => join(folder, 'heliograph', 'config.json')

test('config writes, reads, lists and removes settings, profile by profile', async (t) => {
  const env = { XDG_CONFIG_HOME: folderFor(t) }
  t.is((await run('config set url https://a.example', { env })).exitCode, 0)
  t.is((await run(`config set channel ${CHANNEL} --profile site-2`, { env })).exitCode, 0)
  t.deepEqual((await run('config get url', { env })).context.printed, ['https://a.example'])
  const missing = await run('config get channel', { env })
  t.is(missing.exitCode, 5)
  t.deepEqual(missing.context.diagnostics, ['error: channel is not set'])
  t.deepEqual((await run('config list', { env })).context.printed, [
    'default\turl\thttps://a.example',
    `site-2\tchannel\t${CHANNEL}`,
  ])
  t.deepEqual((await run('config list --json --profile site-2', { env })).context.printed, [
    JSON.stringify({ profile: 'site-2', key: 'channel', value: CHANNEL }),
  ])
  await run('config unset url', { env })
  t.is((await run('config get url', { env })).exitCode, 5)
})

test('config-file/1: only its owner can read the file, from the first moment', async (t) => {
  const folder = folderFor(t)
  const env = { XDG_CONFIG_HOME: folder }
  await run('config set token', { env, input: `${TOKEN}\n` })
  t.is(statSync(fileIn(folder)).mode & 0o777, 0o600)
  chmodSync(fileIn(folder), 0o644)
  await run('config set url http://a.example', { env })
  t.is(statSync(fileIn(folder)).mode & 0o777, 0o600)
})

test('config set reads a secret from the standard input, and config list does not show it', async (t) => {
  const env = { XDG_CONFIG_HOME: folderFor(t) }
  const quiet = await run('config set token', { env, input: `${TOKEN}\n` })
  t.deepEqual(quiet.context.diagnostics, [])
  const loud = await run(`config set password ${PASSWORD}`, { env })
  t.regex(loud.context.diagnostics.join(), /^warning: /)
  const { shown } = (await run('config list', { env })).context
  t.is(shown, 'default\ttoken\t(set)\ndefault\tpassword\t(set)')
  t.deepEqual((await run('config get token', { env })).context.printed, [TOKEN])
  t.is((await run('config set token', { env, input: ' \n' })).exitCode, 2)
})

test('config set keeps the form that every command reads, in any folder', async (t) => {
  const env = { XDG_CONFIG_HOME: folderFor(t) }
  for (const [key, typed, kept] of [
    ['url', 'HTTPS://Push.Example/', 'https://push.example'],
    ['channel', '5hgd9-dpwyh-pr8yj-6zkta-2xnke-4', '5HGD9DPWYHPR8YJ6ZKTA2XNKE4'],
    ['password_file', 'password.txt', resolve('password.txt')],
  ] as const) {
    t.is((await run(`config set ${key} ${typed}`, { env })).exitCode, 0, typed)
    t.deepEqual((await run(`config get ${key}`, { env })).context.printed, [kept])
  }
})

test('a file that cannot be written is named with the reason, and leaves nothing behind', async (t) => {
  const folder = folderFor(t)
  const unusable = join(folder, 'unusable')
  mkdirSync(unusable)
  for (const [words, variables, reason] of [
    ['config set url https://a.example', { HELIOGRAPH_CONFIG: unusable }, 'it is a folder'],
    ['export --output FOLDER/no/week.ndjson', {}, 'no such file or folder'],
    ['export --output FOLDER', {}, 'it is a folder'],
    ['send hello --password-file FOLDER', {}, 'it is a folder'],
  ] as const) {
    const { exitCode, context } = await run(words.replace('FOLDER', folder), {
      env: { ...ENV, ...variables },
    })
    t.is(exitCode, 1, words)
    t.true(context.shown.includes(folder), context.shown)
    t.true(context.shown.endsWith(`: ${reason}`), context.shown)
  }
  t.deepEqual(readdirSync(folder), ['unusable'])
})

test('config-file/2: the error for a broken file names it and quotes nothing of it', async (t) => {
  const file = join(folderFor(t), 'config.json')
  for (const text of [
    TOKEN,
    `{"profiles": ["${TOKEN}"]}`,
    `{"profiles": {"default": {"tokn": "${TOKEN}"}}}`,
  ]) {
    writeFileSync(file, text)
    const { exitCode, context } = await run('status o', { env: { HELIOGRAPH_CONFIG: file } })
    t.is(exitCode, 1)
    t.true(context.shown.includes(file))
    t.notRegex(context.shown, new RegExp(TOKEN))
    t.is(readFileSync(file, 'utf8'), text)
  }
})

const winners: [words: string, env: Readonly<Record<string, string>>, token: string | undefined][] =
  [
    ['status o', { HELIOGRAPH_CONFIG: '/nowhere' }, undefined],
    ['status o', {}, 'in-profile'],
    ['status o', { HELIOGRAPH_TOKEN: 'in-variable' }, 'in-variable'],
    ['status o', { HELIOGRAPH_TOKEN_FILE: 'FILE' }, 'in-file'],
    ['status o --token-file FILE', { HELIOGRAPH_TOKEN: 'in-variable' }, 'in-file'],
    ['status o --token-file -', { HELIOGRAPH_TOKEN: 'in-variable' }, 'in-input'],
    ['status o --token in-option', { HELIOGRAPH_TOKEN_FILE: 'FILE' }, 'in-option'],
    ['status o --profile other', {}, 'in-file'],
    ['--profile other status o', {}, 'in-file'],
    ['status o', { HELIOGRAPH_PROFILE: 'other' }, 'in-file'],
    ['status o --profile other', { HELIOGRAPH_TOKEN: 'in-variable' }, 'in-variable'],
  ]

test('an option wins over the environment, and the environment over the profile', async (t) => {
  const folder = folderFor(t)
  const file = join(folder, 'token')
  const config = join(folder, 'config.json')
  writeFileSync(file, 'in-file\n')
  const profiles = { default: { token: 'in-profile' }, other: { token_file: file } }
  writeFileSync(config, JSON.stringify({ profiles }))
  for (const [words, variables, token] of winners) {
    const env: Record<string, string> = { HELIOGRAPH_CONFIG: config }
    for (const [name, value] of Object.entries(variables)) env[name] = value.replace('FILE', file)
    const { context } = await run(words.replace('FILE', file), { env, input: 'in-input\n' })
    const authorization = token === undefined ? undefined : `Bearer ${token}`
    t.is(context.requests[0]?.authorization, authorization, words)
  }
})

test('an unusable profile, file or token is wrong usage', async (t) => {
  const env = { XDG_CONFIG_HOME: folderFor(t) }
  for (const words of [
    'status o --profile unknown',
    'status o --token-file /nowhere/token',
    `status o --token ${TOKEN} --token-file /nowhere/token`,
    'status o --token-file -',
    "status o --token 'two words'",
    'config set colour red',
    "config set url 'not a url'",
    'config set channel greenhouse',
    "config set token 'two words'",
    'config set url',
  ]) {
    const { exitCode, context } = await run(words, { env })
    t.is(exitCode, 2, words)
    t.deepEqual(context.requests, [], words)
  }
})

test('a secret as an argument causes a warning that names better ways', async (t) => {
  const { context } = await run(`channel info --password ${PASSWORD} --token ${TOKEN}`)
  t.deepEqual(context.diagnostics, [
    'warning: --password shows in the list of processes; use HELIOGRAPH_PASSWORD or --password-file',
    'warning: --token shows in the list of processes; use HELIOGRAPH_TOKEN or --token-file',
  ])
})

const answer = () => success({ channel_id: CHANNEL, channel_name: 'Greenhouse' })

test('channel create --keep lets the commands that follow need no channel and no password', async (t) => {
  const folder = folderFor(t)
  const env = { XDG_CONFIG_HOME: folder }
  const created = await run('channel create Greenhouse --keep', { env, answer })
  t.is(created.exitCode, 0)
  const body = created.context.requests[0]?.body as { readonly password: string } | undefined
  const password = body?.password ?? ''
  t.deepEqual(JSON.parse(readFileSync(fileIn(folder), 'utf8')) as object, {
    profiles: { default: { url: 'http://127.0.0.1:8080', channel: CHANNEL, password } },
  })
  const { context } = await run('channel info', { env, answer })
  t.deepEqual(context.requests[0]?.body, { channel_id: CHANNEL, password })
})

test('channel password puts the new password in the place of the one that the config file has', async (t) => {
  for (const [kept, expected] of [
    [PASSWORD, 'another-secret'],
    ['of-another-channel', 'of-another-channel'],
  ] as const) {
    const env = { XDG_CONFIG_HOME: folderFor(t), HELIOGRAPH_NEW_PASSWORD: 'another-secret' }
    await run(`config set channel ${CHANNEL}`, { env })
    await run('config set password', { env, input: kept })
    const given = kept === PASSWORD ? env : { ...env, HELIOGRAPH_PASSWORD: PASSWORD }
    t.is((await run('channel password', { env: given, answer })).exitCode, 0)
    t.deepEqual((await run('config get password', { env })).context.printed, [expected])
  }
})

test('channel create --keep makes no channel where the config file has one', async (t) => {
  for (const kept of [`channel ${CHANNEL}`, `password ${PASSWORD}`, 'password_file a']) {
    const env = { XDG_CONFIG_HOME: folderFor(t) }
    await run(`config set ${kept}`, { env })
    const { context, exitCode } = await run('channel create Greenhouse --keep', { env })
    t.is(exitCode, 2)
    t.regex(context.diagnostics.join(), /error: --keep: /)
    t.deepEqual(context.requests, [])
  }
})

test('channel list shows the channels of the config file without a request or a secret', async (t) => {
  const env = { XDG_CONFIG_HOME: folderFor(t) }
  t.deepEqual((await run('channel list', { env })).context.diagnostics, ['none'])
  await run(`config set channel ${CHANNEL}`, { env })
  await run('config set password', { env, input: PASSWORD })
  await run('config set url https://a.example --profile site-2', { env })
  await run(`config set channel ${CHANNEL} --profile site-2`, { env })
  const { context } = await run('channel list --header', { env })
  t.deepEqual(context.printed, [
    'PROFILE\tCHANNEL\tGATEWAY',
    `default\t${CHANNEL}\thttp://127.0.0.1:8080`,
    `site-2\t${CHANNEL}\thttps://a.example`,
  ])
  t.deepEqual(context.requests, [])
})

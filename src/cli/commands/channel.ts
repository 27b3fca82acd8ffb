// heliograph channel: create, list, info, exists, rename, password, delete.

import { defined } from '#domain/record'
import { COMMON_PASSWORD_RULE, isCommonPassword } from '#src/passwords/common-passwords'
import {
  ACCESS,
  CHANNEL,
  DEFAULT_URL,
  NEW_CHANNEL,
  passwordIn,
  profileName,
  proofOf,
} from '#src/cli/access'
import { secretFile, setting } from '#src/cli/access'
import type { AccessGiven } from '#src/cli/access'
import { DEFAULT_PROFILE, changeProfile, profileOf, readProfiles } from '#src/cli/config-file'
import type { Profile } from '#src/cli/config-file'
import { UsageError } from '#src/cli/endings'
import { makePassword } from '#src/cli/make-password'
import { HEADER, listWhole } from '#src/cli/paging'
import type { ProcessContext } from '#src/cli/process-context'
import { channelRequest, commandClientOf, provenRequest } from '#src/cli/command-client'
import type { CommandContext } from '#src/cli/command'
import { command, fileOption, flag, parameter, text } from '#src/cli/command'

const MADE = 'Without a password the command makes a strong one and shows it once.'

export const create = command({
  description: `Creates a channel and shows its id. ${MADE}`,
  parameters: { name: parameter('<name>', 'a name for people') },
  options: {
    keep: flag('keep address, id and password in the config file, for the commands that follow'),
    ...NEW_CHANNEL,
  },
  examples: ['channel create Greenhouse', 'channel create Greenhouse --keep'],
  async run(options, context) {
    const { client, access, report } = await commandClientOf(options, context)
    const keep = options.keep === true ? keeperFor(options, context) : undefined
    const chosen = await passwordIn(options, context)
    const password = chosen ?? makePassword()
    await warnOfCommon(chosen, context)
    const created = await client.channel.create({ channel_name: options.name, password })
    report(chosen === undefined ? { ...created, password } : created)
    keep?.({ url: access.baseUrl, channel: created.channel_id, password })
  },
})

/**
 * Puts what a new channel is used with into the profile. Throws UsageError, before the channel is
 * made, for a profile that has a channel.
 */
function keeperFor(
  options: Pick<AccessGiven, 'profile'>,
  { env }: ProcessContext,
): (kept: Profile) => void {
  const name = profileName(options, env)
  const { channel, password, password_file } = readProfiles(env)[name ?? DEFAULT_PROFILE] ?? {}
  if (channel !== undefined || password !== undefined || password_file !== undefined) {
    throw new UsageError(
      '--keep: the config file has a channel or a password; `heliograph config unset` removes them',
    )
  }
  return (kept) => changeProfile(env, name, (before) => ({ ...before, ...kept }))
}

export const list = command({
  description:
    'Lists the channels that the config file keeps, one for each profile. A gateway lists none: ' +
    'whoever asked could find the channels of others.',
  options: { json: flag('print JSON, one value a line'), ...HEADER },
  examples: ['channel list'],
  async run(options, context) {
    const items = Object.entries(readProfiles(context.env)).flatMap(([profile, { channel, url }]) =>
      channel === undefined ? [] : [{ profile, channel_id: channel, url: url ?? DEFAULT_URL }],
    )
    const table = {
      headings: ['PROFILE', 'CHANNEL', 'GATEWAY'],
      cells: ({ profile, channel_id: id, url }: (typeof items)[number]) => [profile, id, url],
    }
    await listWhole({ items, ...table }, options, context)
  },
})

export const info = channelRequest({
  description: 'Shows a channel: its name, subscribers, Things and open Events.',
  examples: ['channel info --channel 5HGD9DPWYHPR8YJ6ZKTA2XNKE4'],
  send: ({ client, credentials }) => client.channel.info(credentials),
})

export const exists = command({
  description: 'Asks whether there is a channel with this id; no password is needed.',
  parameters: { id: parameter('<channel_id>', 'the id of the channel') },
  options: ACCESS,
  examples: ['channel exists 5HGD9DPWYHPR8YJ6ZKTA2XNKE4'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context, { sendsSecrets: false })
    report(await client.channel.exists(options.id))
  },
})

export const rename = provenRequest({
  description: 'Gives a channel another name.',
  parameters: { name: parameter('<name>', 'the new name') },
  examples: ["channel rename 'North greenhouse'"],
  send: ({ client, credentials }, { name }) =>
    client.channel.rename({ ...credentials, channel_name: name }),
})

const NEW_PASSWORD = 'HELIOGRAPH_NEW_PASSWORD'

interface NewPassword {
  readonly newPassword: string | undefined
  readonly newPasswordFile: string | undefined
}

export const password = command({
  description: `Changes the password of a channel; the old one stops working at once. ${MADE}`,
  options: {
    newPassword: text('<password>', 'the new password; visible in process lists', {
      variable: NEW_PASSWORD,
      isSecret: true,
    }),
    newPasswordFile: fileOption('file with the new password; - reads the standard input'),
    keepKeys: flag('keep the keys of the channel; without it they are void'),
    ...CHANNEL,
  },
  examples: ['channel password --new-password-file new-password.txt'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const chosen = await newPasswordIn(options, context)
    const newPassword = chosen ?? makePassword()
    await warnOfCommon(chosen, context)
    const credentials = await proofOf(options, context)
    const changed = await client.channel.changePassword({
      ...credentials,
      new_password: newPassword,
      ...defined({ keep_keys: options.keepKeys }),
    })
    report(chosen === undefined ? { ...changed, password: newPassword } : changed)
    const name = profileName(options, context.env)
    if (profileOf(readProfiles(context.env), name).password !== credentials.password) return
    changeProfile(context.env, name, (before) => ({ ...before, password: newPassword }))
    context.terminal.printDiagnostic('the config file has the new password')
  },
})

async function warnOfCommon(
  chosen: string | undefined,
  { terminal }: Pick<CommandContext, 'terminal'>,
): Promise<void> {
  if (chosen === undefined || !(await isCommonPassword(chosen))) return
  terminal.printDiagnostic(`warning: the password ${COMMON_PASSWORD_RULE}: strangers try it first`)
}

async function newPasswordIn(
  { newPassword, newPasswordFile }: NewPassword,
  context: ProcessContext,
): Promise<string | undefined> {
  if (newPassword !== undefined && newPasswordFile !== undefined) {
    throw new UsageError('give --new-password or --new-password-file, not both')
  }
  if (newPasswordFile === undefined) return newPassword ?? setting(context.env, NEW_PASSWORD)
  return await secretFile('--new-password-file', newPasswordFile, context)
}

const remove = provenRequest({
  description: 'Deletes a channel for all its writers and subscribers.',
  options: { yes: flag('confirm: this cannot be undone') },
  examples: ['channel delete --yes'],
  send: async ({ client, credentials }, { yes }) => {
    if (yes === true) return client.channel.delete(credentials)
    throw new UsageError('a deleted channel does not come back: confirm with --yes')
  },
})

// The name of a command is a word of the language.
export { remove as delete }

// heliograph channel: create, info, rename, password, delete.

import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'

import { UsageError } from './endings.ts'
import { credentialsOf, setting, withChannel, withAccess } from './options.ts'
import type { ChannelOptions } from './options.ts'
import type { Surroundings } from './surroundings.ts'
import { talk } from './talk.ts'

const MADE = 'without one the command makes a strong password and shows it once'

export function addChannel(program: Command, surroundings: Surroundings): void {
  const channel = program.command('channel').description('Create and manage Channels.')
  addCreate(channel, surroundings)
  addRename(channel, surroundings)
  addPassword(channel, surroundings)

  withChannel(channel.command('info'))
    .description('Shows a channel: its name, subscribers, Things and open Events.')
    .action(async (options: ChannelOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      report(await client.channel.info(credentialsOf(options, surroundings.env)))
    })

  withChannel(channel.command('delete'))
    .description('Deletes a channel for all its writers and subscribers.')
    .option('--yes', 'confirm: this cannot be undone')
    .action(async (options: ChannelOptions & { readonly yes?: boolean }, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const credentials = credentialsOf(options, surroundings.env)
      if (options.yes !== true) throw new UsageError('a deleted channel is gone: add --yes')
      report(await client.channel.delete(credentials))
    })
}

function addCreate(channel: Command, surroundings: Surroundings): void {
  withAccess(channel.command('create'))
    .description(`Creates a channel and shows its id.`)
    .argument('<name>', 'a name for people')
    .option('--password <password>', `its password; better in HELIOGRAPH_PASSWORD; ${MADE}`)
    .action(async (name: string, options: ChannelOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const chosen = options.password ?? setting(surroundings.env, 'HELIOGRAPH_PASSWORD')
      const password = chosen ?? makePassword()
      const created = await client.channel.create({ channel_name: name, password })
      report(chosen === undefined ? { ...created, password } : created)
    })
}

function addRename(channel: Command, surroundings: Surroundings): void {
  withChannel(channel.command('rename'))
    .description('Gives a channel another name.')
    .argument('<name>', 'the new name')
    .action(async (name: string, options: ChannelOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const credentials = credentialsOf(options, surroundings.env)
      report(await client.channel.rename({ ...credentials, channel_name: name }))
    })
}

interface PasswordOptions extends ChannelOptions {
  readonly newPassword?: string
}

function addPassword(channel: Command, surroundings: Surroundings): void {
  withChannel(channel.command('password'))
    .description('Changes the password of a channel; the old one stops working at once.')
    .option('--new-password <password>', `better in HELIOGRAPH_NEW_PASSWORD; ${MADE}`)
    .action(async (options: PasswordOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const chosen = options.newPassword ?? setting(surroundings.env, 'HELIOGRAPH_NEW_PASSWORD')
      const password = chosen ?? makePassword()
      const credentials = credentialsOf(options, surroundings.env)
      const changed = await client.channel.changePassword({
        ...credentials,
        new_password: password,
      })
      report(chosen === undefined ? { ...changed, password } : changed)
    })
}

/** 144 random bits in 24 characters that need no quoting in a shell. */
export function makePassword(): string {
  // No hyphen in front: it would look like an option.
  return randomBytes(18).toString('base64url').replace(/^[-_]/, 'x')
}

// heliograph config: get, set, unset, list.

import { resolve } from 'node:path'

import { profileName, secretFile } from '#src/cli/access'
import { CONFIG_KEYS, DEFAULT_PROFILE, READERS, SECRET_KEYS } from '#src/cli/config-file'
import { changeProfile, configPath, profileOf, readProfiles } from '#src/cli/config-file'
import type { ConfigKey, Profiles } from '#src/cli/config-file'
import { CommandError, EXIT, UsageError } from '#src/cli/endings'
import { HEADER, listWhole } from '#src/cli/paging'
import { chosen, command, flag, optional, text } from '#src/cli/command'

const OPTIONS = {
  profile: text('<name>', `the profile; without it the one that is named ${DEFAULT_PROFILE}`, {
    variable: 'HELIOGRAPH_PROFILE',
  }),
  json: flag('print JSON, one value a line'),
} as const

const KEY = chosen('<key>', CONFIG_KEYS)

export const get = command({
  description: 'Prints one setting of the config file.',
  parameters: { key: KEY },
  options: OPTIONS,
  examples: ['config get url'],
  async run({ key, profile, json }, context) {
    const value = profileOf(readProfiles(context.env), profileName({ profile }, context.env))[key]
    if (value === undefined) throw new CommandError(`${key} is not set`, EXIT.notFound)
    context.terminal.print(json === true ? JSON.stringify({ [key]: value }) : value)
  },
})

export const set = command({
  description:
    'Writes one setting into the config file. Leave out the value, or write -, to give it on ' +
    'the standard input: so a secret stays out of process lists and of the history of the shell.',
  parameters: { key: KEY, value: optional('[value]', 'the value; - reads the standard input') },
  options: OPTIONS,
  examples: [
    'config set url https://push.example',
    'config set token < token.txt',
    'config set --profile site-2 channel 5HGD9DPWYHPR8YJ6ZKTA2XNKE4',
  ],
  async run({ key, value, profile }, context) {
    const isTyped = value !== undefined && value !== '-'
    if (isTyped && SECRET_KEYS.has(key)) {
      context.terminal.printDiagnostic(
        'warning: the value shows in the list of processes; give it on the standard input',
      )
    }
    const given = isTyped ? value.trim() : await secretFile('the standard input', '-', context)
    if (given === '') throw new UsageError('[value]: is empty; `config unset` removes a setting')
    const kept = keptForm(key, given)
    const name = profileName({ profile }, context.env)
    changeProfile(context.env, name, (before) => ({ ...before, [key]: kept }))
  },
})

/** A setting in the form in which commands in any folder read it. Throws UsageError. */
function keptForm(key: ConfigKey, given: string): string {
  if (key === 'url' || key === 'channel' || key === 'token') return READERS[key](given, key)
  return key.endsWith('_file') ? resolve(given) : given
}

export const unset = command({
  description: 'Removes one setting from the config file.',
  parameters: { key: KEY },
  options: OPTIONS,
  examples: ['config unset token'],
  async run({ key, profile }, context) {
    const name = profileName({ profile }, context.env)
    changeProfile(context.env, name, ({ [key]: _removed, ...kept }) => kept)
  },
})

export const list = command({
  description: 'Lists the settings of all profiles, or of one; secrets are not shown.',
  options: { ...OPTIONS, ...HEADER },
  examples: ['config list'],
  async run({ profile, json, header }, context) {
    const { terminal, env } = context
    const items = rowsOf(readProfiles(env), profile)
    if (items.length === 0) {
      terminal.printDiagnostic(`nothing is set in ${configPath(env) ?? 'a config file'}`)
      return
    }
    const headings = ['PROFILE', 'KEY', 'VALUE']
    const cells = ({ profile: name, key, value = '(set)' }: Row) => [name, key, value]
    await listWhole({ items, headings, cells }, { json, header }, context)
  },
})

interface Row {
  readonly profile: string
  readonly key: ConfigKey
  /** Absent for a secret. */
  readonly value?: string
}

const rowsOf = (profiles: Profiles, only: string | undefined): readonly Row[] =>
  Object.entries(profiles)
    .filter(([name]) => only === undefined || name === only)
    .flatMap(([profile, settings]) =>
      CONFIG_KEYS.flatMap((key): readonly Row[] => {
        const value = settings[key]
        if (value === undefined) return []
        return [SECRET_KEYS.has(key) ? { profile, key } : { profile, key, value }]
      }),
    )

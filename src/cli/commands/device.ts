// heliograph device: register, list, route, retire-token.

import { CHANNEL_TYPES } from '#domain/device'
import { PLATFORMS } from '#domain/push/providers'
import { PROVIDERS, providerRow } from '#domain/push/providers'
import { ACCESS, secretFile } from '#src/cli/access'
import { UsageError } from '#src/cli/endings'
import { commandClientOf } from '#src/cli/command-client'
import { HEADER, listWhole } from '#src/cli/paging'
import { DEVICE, keptDevices, knownDeviceKey, thisDevice } from '#src/cli/this-device'
import { thisPlatform } from '#src/cli/this-device'
import type { KeptDevice } from '#src/cli/this-device'
import { chosen, command, choice, fileOption, flag, required, text } from '#src/cli/command'

const ROWS = PROVIDERS.map((name) => ({ name, ...providerRow(name) }))
const LISTS = {
  services: ROWS.map(({ service }) => service).join(', '),
  titles: ROWS.map(({ name, title }) => `${name}: ${title}`).join('; '),
}

const TOKEN_FILE = fileOption(
  `file with the token from the provider (${LISTS.services}); - reads the input`,
)

export const register = command({
  description:
    'Registers this computer, or another device, and keeps its key in a file. A device that is ' +
    'registered already keeps its platform and key.',
  options: {
    platform: choice('<platform>', PLATFORMS, 'the platform; that of this computer by default'),
    label: text('<label>', 'names the device to the owners of its channels'),
    ...DEVICE,
    ...ACCESS,
  },
  examples: ['device register', 'device register --platform ios --device-key-file phone.key'],
  async run(options, context) {
    const { platform: wanted = thisPlatform(), deviceKeyFile } = options
    if (wanted !== thisPlatform() && deviceKeyFile === undefined) {
      throw new UsageError('a device of another platform needs a --device-key-file of its own')
    }
    const { client, access, report } = await commandClientOf(options, context)
    const { platform, isNew } = await thisDevice({ client, access }, options, context)
    report({ platform, issued_new_key: isNew })
  },
})

export const list = command({
  description:
    'Lists the devices whose keys this computer keeps, one for each gateway. Key files that ' +
    '--device-key-file put elsewhere are not looked for.',
  options: { json: flag('print JSON, one value a line'), ...HEADER },
  examples: ['device list'],
  async run(options, context) {
    const table = {
      headings: ['PLATFORM', 'KEY FILE'],
      cells: ({ platform, device_key_file: path }: KeptDevice) => [platform, path],
    }
    await listWhole({ items: keptDevices(context.env), ...table }, options, context)
  },
})

const CHANNEL_TYPE = chosen(
  '<channel_type>',
  CHANNEL_TYPES,
  `private: its own connection; ${LISTS.titles}`,
)

export const route = command({
  description:
    'Chooses how the gateway reaches a device: by its own connection, or by pushes of a provider ' +
    'to the token that its system gave it. A new token replaces the one before.',
  parameters: { channelType: CHANNEL_TYPE },
  options: { providerTokenFile: TOKEN_FILE, ...DEVICE, ...ACCESS },
  examples: [
    'device route apns --provider-token-file token.txt --device-key-file phone.key',
    'device route private --device-key-file phone.key',
  ],
  async run(options, context) {
    const { client, access, report } = await commandClientOf(options, context)
    const device_key = knownDeviceKey(access, options, context)
    const { channelType: channel_type, providerTokenFile: path } = options
    if (path === undefined && channel_type !== 'private') {
      throw new UsageError(`${channel_type} needs the --provider-token-file of the device`)
    }
    const token = path === undefined ? {} : { provider_token: await tokenIn(path, context) }
    const {
      device_key: _key,
      provider_token: _token,
      ...shown
    } = await client.device.setRoute({ device_key, channel_type, ...token })
    report(shown)
  },
})

export const retireToken = command({
  description:
    'Retires a token that its provider no longer accepts: the device that has it falls back to ' +
    'its own connection.',
  options: {
    platform: required(choice('<platform>', PLATFORMS, 'the platform of its device')),
    providerTokenFile: required(TOKEN_FILE),
    ...ACCESS,
  },
  examples: ['device retire-token --platform ios --provider-token-file token.txt'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const provider_token = await tokenIn(options.providerTokenFile, context)
    report(await client.device.retireToken({ platform: options.platform, provider_token }))
  },
})

const tokenIn = async (path: string, sources: Parameters<typeof secretFile>[2]): Promise<string> =>
  await secretFile('--provider-token-file', path, sources)

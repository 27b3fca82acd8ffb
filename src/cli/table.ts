// The table of all commands: one line about each, by its name in the file of its definition. A run
// loads the definition of its own command and no other.

import { typedName } from './command.ts'
import type { Command, CommandEntry, Group } from './command.ts'

/** The commands of one file: each is the export of its name, `retire-token` of `retireToken`. */
const commandsOf = <Name extends string>(
  load: () => Promise<Readonly<Record<NoInfer<Name>, Command>>>,
  summaries: Readonly<Record<Name, string>>,
): readonly CommandEntry[] =>
  (Object.keys(summaries) as Name[]).map((name) => ({
    kind: 'command',
    name: typedName(name),
    summary: summaries[name],
    load: async () => (await load())[name],
  }))

const group = (name: string, summary: string, entries: readonly CommandEntry[]): Group => ({
  kind: 'group',
  name,
  summary,
  entries,
})

const channel = group('channel', 'create and manage Channels', [
  ...commandsOf(() => import('./commands/channel.ts'), {
    create: 'create a channel',
    list: 'list the channels that this computer keeps',
    info: 'show a channel',
    exists: 'ask whether a channel exists',
    rename: 'give a channel another name',
    password: 'change its password',
    delete: 'delete a channel for everybody',
  }),
  ...commandsOf(() => import('./commands/mappings.ts'), {
    mappings: 'show or set what other topics of MQTT become',
    presentation: 'show or set how attrs of Things are shown',
  }),
  ...commandsOf(() => import('./commands/subscription.ts'), {
    subscribe: 'subscribe this computer',
    unsubscribe: 'end the subscription of this computer',
    sync: 'subscribe this computer to exactly these channels',
  }),
])

const device = group(
  'device',
  'devices whose keys this computer keeps',
  commandsOf(() => import('./commands/device.ts'), {
    register: 'register a device',
    list: 'list the devices whose keys this computer keeps',
    route: 'choose how the gateway reaches a device',
    retireToken: 'retire a token that its provider no longer accepts',
  }),
)

const event = group('event', 'Events: processes that change and end', [
  ...commandsOf(() => import('./commands/event.ts'), {
    create: 'begin an Event',
    update: 'change an Event',
    close: 'end an Event',
    ack: 'say that somebody has an Event',
  }),
  ...commandsOf(() => import('./commands/event-reading.ts'), {
    get: 'show an Event',
    list: 'list Events',
  }),
])

const thing = group('thing', 'Things: objects whose state changes', [
  ...commandsOf(() => import('./commands/thing.ts'), {
    create: 'create a Thing',
    update: 'change a Thing',
    archive: 'set a Thing aside',
    delete: 'delete a Thing for good',
  }),
  ...commandsOf(() => import('./commands/thing-reading.ts'), {
    get: 'show a Thing',
    list: 'list Things',
  }),
  ...commandsOf(() => import('./commands/thing-query.ts'), {
    query: 'ask which Things meet a condition',
  }),
  ...commandsOf(() => import('./commands/thing-series.ts'), {
    series: 'show the numbers of a Thing over time',
  }),
])

const key = group(
  'key',
  'keys in the place of a channel and its password',
  commandsOf(() => import('./commands/key.ts'), {
    create: 'make a key',
    list: 'list the keys of a channel',
    revoke: 'revoke a key',
  }),
)

const subscription = group(
  'subscription',
  'what a subscribed device wants of a channel',
  commandsOf(() => import('./commands/subscription.ts'), {
    notify: 'choose which pushes reach a device',
  }),
)

const subscriber = group(
  'subscriber',
  'devices that are subscribed to a channel',
  commandsOf(() => import('./commands/subscriber.ts'), {
    list: 'list the devices of a channel',
    remove: 'end the subscription of a device',
  }),
)

const deadLetter = group(
  'dead-letter',
  'submissions that were set aside, for the operator of the gateway',
  commandsOf(() => import('./commands/dead-letter.ts'), {
    list: 'list what was set aside',
    retry: 'try again what was set aside',
  }),
)

const rule = group(
  'rule',
  'rules: Things that watch themselves',
  commandsOf(() => import('./commands/rule.ts'), {
    put: 'put a rule',
    get: 'show a rule',
    list: 'list the rules',
    delete: 'delete a rule',
    test: 'run a rule over the kept history',
  }),
)

const config = group(
  'config',
  'read and write the config file',
  commandsOf(() => import('./commands/config.ts'), {
    get: 'print one setting',
    set: 'write one setting',
    unset: 'remove one setting',
    list: 'list the settings',
  }),
)

/** The command line. */
export const PROGRAM: Group = {
  kind: 'group',
  name: 'heliograph',
  summary: 'Push gateway for Channels: run it, write to it, watch it.',
  entries: [
    ...commandsOf(() => import('./commands/serve.ts'), { serve: 'run a gateway' }),
    ...commandsOf(() => import('#src/dev/demo/demo'), {
      demo: "publish this computer's readings and show a device's deliveries",
    }),
    ...commandsOf(() => import('#src/dev/cluster/dev-cluster'), {
      devCluster: 'run a cluster on this computer, to develop against',
    }),
    ...commandsOf(() => import('./commands/send.ts'), {
      send: 'send a Message',
      cancel: 'take back a Message that waits for its time',
    }),
    event,
    thing,
    rule,
    ...commandsOf(() => import('./commands/watch.ts'), {
      watch: 'show the deliveries to this computer as they arrive',
    }),
    ...commandsOf(() => import('./commands/pull.ts'), {
      pull: 'show the deliveries that wait for this computer',
      ack: 'acknowledge deliveries',
    }),
    ...commandsOf(() => import('./commands/status.ts'), {
      status: 'show the status of an operation',
    }),
    ...commandsOf(() => import('./commands/receipts.ts'), {
      receipts: 'show which devices got an entry',
    }),
    ...commandsOf(() => import('./commands/history.ts'), {
      history: 'show the entries that a channel keeps',
    }),
    ...commandsOf(() => import('./commands/export.ts'), {
      export: 'write what a channel keeps into a file',
    }),
    ...commandsOf(() => import('./commands/import.ts'), {
      import: 'send readings from a file as Thing updates',
    }),
    channel,
    device,
    key,
    subscription,
    subscriber,
    deadLetter,
    ...commandsOf(() => import('./commands/doctor.ts'), {
      doctor: 'check a server, and name each problem with its remedy',
    }),
    config,
    ...commandsOf(() => import('./commands/completion.ts'), {
      completion: 'print the completion script of a shell',
    }),
  ],
}

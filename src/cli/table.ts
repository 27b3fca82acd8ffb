// The table of all commands: the name of each, one line about it, and the file of its definition. A
// run loads the definition of its own command and no other.

import type { Command, CommandEntry, Group } from './command.ts'

const command = (name: string, summary: string, load: () => Promise<Command>): CommandEntry => ({
  kind: 'command',
  name,
  summary,
  load,
})

const group = (name: string, summary: string, entries: readonly CommandEntry[]): Group => ({
  kind: 'group',
  name,
  summary,
  entries,
})

const channel = group('channel', 'create and manage Channels', [
  command('create', 'create a channel', async () => (await import('./commands/channel.ts')).create),
  command('info', 'show a channel', async () => (await import('./commands/channel.ts')).info),
  command('exists', 'ask whether a channel exists', async () => {
    return (await import('./commands/channel.ts')).exists
  }),
  command('rename', 'give a channel another name', async () => {
    return (await import('./commands/channel.ts')).rename
  }),
  command(
    'password',
    'change its password',
    async () => (await import('./commands/channel.ts')).password,
  ),
  command('delete', 'delete a channel for everybody', async () => {
    return (await import('./commands/channel.ts')).remove
  }),
  command('subscribe', 'subscribe this computer', async () => {
    return (await import('./commands/subscription.ts')).subscribe
  }),
  command('unsubscribe', 'end the subscription of this computer', async () => {
    return (await import('./commands/subscription.ts')).unsubscribe
  }),
  command('sync', 'subscribe this computer to exactly these channels', async () => {
    return (await import('./commands/subscription.ts')).sync
  }),
])

const device = group('device', 'devices whose keys this computer keeps', [
  command('register', 'register a device', async () => {
    return (await import('./commands/device.ts')).register
  }),
  command('route', 'choose how the gateway reaches a device', async () => {
    return (await import('./commands/device.ts')).route
  }),
  command('retire-token', 'retire a token of Apple or Google', async () => {
    return (await import('./commands/device.ts')).retireToken
  }),
])

const event = group('event', 'Events: processes that change and end', [
  command('create', 'begin an Event', async () => (await import('./commands/event.ts')).create),
  command('update', 'change an Event', async () => (await import('./commands/event.ts')).update),
  command('close', 'end an Event', async () => (await import('./commands/event.ts')).close),
  command('get', 'show an Event', async () => (await import('./commands/event-reading.ts')).get),
  command('list', 'list Events', async () => (await import('./commands/event-reading.ts')).list),
])

const thing = group('thing', 'Things: objects whose state changes', [
  command('create', 'create a Thing', async () => (await import('./commands/thing.ts')).create),
  command('update', 'change a Thing', async () => (await import('./commands/thing.ts')).update),
  command(
    'archive',
    'set a Thing aside',
    async () => (await import('./commands/thing.ts')).archive,
  ),
  command(
    'delete',
    'delete a Thing for good',
    async () => (await import('./commands/thing.ts')).remove,
  ),
  command('get', 'show a Thing', async () => (await import('./commands/thing-reading.ts')).get),
  command('list', 'list Things', async () => (await import('./commands/thing-reading.ts')).list),
])

const key = group('key', 'keys in the place of a channel and its password', [
  command('create', 'make a key', async () => (await import('./commands/key.ts')).create),
  command(
    'list',
    'list the keys of a channel',
    async () => (await import('./commands/key.ts')).list,
  ),
  command('revoke', 'revoke a key', async () => (await import('./commands/key.ts')).revoke),
])

const rule = group('rule', 'rules: Things that watch themselves', [
  command('put', 'put a rule', async () => (await import('./commands/rule.ts')).put),
  command('get', 'show a rule', async () => (await import('./commands/rule.ts')).get),
  command('list', 'list the rules', async () => (await import('./commands/rule.ts')).list),
  command('delete', 'delete a rule', async () => (await import('./commands/rule.ts')).remove),
  command('test', 'run a rule over the kept history', async () => {
    return (await import('./commands/rule.ts')).test
  }),
])

const config = group('config', 'read and write the config file', [
  command('get', 'print one setting', async () => (await import('./commands/config.ts')).get),
  command('set', 'write one setting', async () => (await import('./commands/config.ts')).set),
  command('unset', 'remove one setting', async () => (await import('./commands/config.ts')).unset),
  command('list', 'list the settings', async () => (await import('./commands/config.ts')).list),
])

/** The command line. */
export const PROGRAM: Group = {
  kind: 'group',
  name: 'heliograph',
  summary: 'Push gateway for Channels: run it, write to it, watch it.',
  entries: [
    command('serve', 'run a gateway', async () => (await import('./commands/serve.ts')).serve),
    command('demo', "publish this computer's readings and show a device's deliveries", async () => {
      return (await import('#src/dev/demo/demo')).demo
    }),
    command('dev-cluster', 'run a cluster on this computer, to develop against', async () => {
      return (await import('#src/dev/cluster/dev-cluster')).devCluster
    }),
    command('send', 'send a Message', async () => (await import('./commands/send.ts')).send),
    event,
    thing,
    rule,
    command('watch', 'show the deliveries to this computer as they arrive', async () => {
      return (await import('./commands/watch.ts')).watch
    }),
    command('pull', 'show the deliveries that wait for this computer', async () => {
      return (await import('./commands/pull.ts')).pull
    }),
    command('ack', 'acknowledge deliveries', async () => (await import('./commands/pull.ts')).ack),
    command('status', 'show the status of an operation', async () => {
      return (await import('./commands/status.ts')).status
    }),
    command('history', 'show the entries that a channel keeps', async () => {
      return (await import('./commands/history.ts')).history
    }),
    command('import', 'send readings from a file as Thing updates', async () => {
      return (await import('./commands/import.ts')).importing
    }),
    channel,
    device,
    key,
    command('doctor', 'check a server, and name each problem with its remedy', async () => {
      return (await import('./commands/doctor.ts')).doctor
    }),
    config,
    command('completion', 'print the completion script of a shell', async () => {
      return (await import('./commands/completion.ts')).completion
    }),
  ],
}

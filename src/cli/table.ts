// The table of all words: name, one line about it, and where its definition is. A run loads the
// definition of its own word and no other.

import type { Group, Leaf, Word } from './word.ts'

const leaf = (name: string, summary: string, load: () => Promise<Word>): Leaf => ({
  kind: 'leaf',
  name,
  summary,
  load,
})

const group = (name: string, summary: string, entries: readonly Leaf[]): Group => ({
  kind: 'group',
  name,
  summary,
  entries,
})

const channel = group('channel', 'create and manage Channels', [
  leaf('create', 'create a channel', async () => (await import('./words/channel.ts')).create),
  leaf('info', 'show a channel', async () => (await import('./words/channel.ts')).info),
  leaf('exists', 'ask whether a channel exists', async () => {
    return (await import('./words/channel.ts')).exists
  }),
  leaf('rename', 'give a channel another name', async () => {
    return (await import('./words/channel.ts')).rename
  }),
  leaf(
    'password',
    'change its password',
    async () => (await import('./words/channel.ts')).password,
  ),
  leaf('delete', 'delete a channel for everybody', async () => {
    return (await import('./words/channel.ts')).remove
  }),
  leaf('subscribe', 'subscribe this computer', async () => {
    return (await import('./words/subscription.ts')).subscribe
  }),
  leaf('unsubscribe', 'end the subscription of this computer', async () => {
    return (await import('./words/subscription.ts')).unsubscribe
  }),
  leaf('sync', 'subscribe this computer to exactly these channels', async () => {
    return (await import('./words/subscription.ts')).sync
  }),
])

const device = group('device', 'devices whose keys this computer keeps', [
  leaf('register', 'register a device', async () => {
    return (await import('./words/device.ts')).register
  }),
  leaf('route', 'choose how the gateway reaches a device', async () => {
    return (await import('./words/device.ts')).route
  }),
  leaf('retire-token', 'retire a token of Apple or Google', async () => {
    return (await import('./words/device.ts')).retireToken
  }),
])

const event = group('event', 'Events: processes that change and end', [
  leaf('create', 'begin an Event', async () => (await import('./words/event.ts')).create),
  leaf('update', 'change an Event', async () => (await import('./words/event.ts')).update),
  leaf('close', 'end an Event', async () => (await import('./words/event.ts')).close),
  leaf('get', 'show an Event', async () => (await import('./words/event-reading.ts')).get),
  leaf('list', 'list Events', async () => (await import('./words/event-reading.ts')).list),
])

const thing = group('thing', 'Things: objects whose state changes', [
  leaf('create', 'create a Thing', async () => (await import('./words/thing.ts')).create),
  leaf('update', 'change a Thing', async () => (await import('./words/thing.ts')).update),
  leaf('archive', 'set a Thing aside', async () => (await import('./words/thing.ts')).archive),
  leaf('delete', 'delete a Thing for good', async () => (await import('./words/thing.ts')).remove),
  leaf('get', 'show a Thing', async () => (await import('./words/thing-reading.ts')).get),
  leaf('list', 'list Things', async () => (await import('./words/thing-reading.ts')).list),
])

const key = group('key', 'keys that stand for a channel and its password', [
  leaf('create', 'make a key', async () => (await import('./words/key.ts')).create),
  leaf('list', 'list the keys of a channel', async () => (await import('./words/key.ts')).list),
  leaf('revoke', 'revoke a key', async () => (await import('./words/key.ts')).revoke),
])

const config = group('config', 'read and write the config file', [
  leaf('get', 'print one setting', async () => (await import('./words/config.ts')).get),
  leaf('set', 'write one setting', async () => (await import('./words/config.ts')).set),
  leaf('unset', 'remove one setting', async () => (await import('./words/config.ts')).unset),
  leaf('list', 'list the settings', async () => (await import('./words/config.ts')).list),
])

/** The command line. */
export const PROGRAM: Group = {
  kind: 'group',
  name: 'heliograph',
  summary: 'Push gateway for Channels: run it, write to it, watch it.',
  entries: [
    leaf('serve', 'run a gateway', async () => (await import('./words/serve.ts')).serve),
    leaf('demo', "publish this computer's readings and show a device's deliveries", async () => {
      return (await import('./demo/demo.ts')).demo
    }),
    leaf('dev-cluster', 'run a cluster on this computer, to develop against', async () => {
      return (await import('./words/dev-cluster.ts')).devCluster
    }),
    leaf('send', 'send a Message', async () => (await import('./words/send.ts')).send),
    event,
    thing,
    leaf('watch', 'show the deliveries to this computer as they arrive', async () => {
      return (await import('./words/watch.ts')).watch
    }),
    leaf('pull', 'show the deliveries that wait for this computer', async () => {
      return (await import('./words/pull.ts')).pull
    }),
    leaf('ack', 'acknowledge deliveries', async () => (await import('./words/pull.ts')).ack),
    leaf('status', 'show the status of an operation', async () => {
      return (await import('./words/status.ts')).status
    }),
    leaf('history', 'show the entries that a channel keeps', async () => {
      return (await import('./words/history.ts')).history
    }),
    leaf('import', 'send readings from a file as Thing updates', async () => {
      return (await import('./words/import.ts')).importing
    }),
    channel,
    device,
    key,
    leaf('doctor', 'check a server, and name each problem with its remedy', async () => {
      return (await import('./words/doctor.ts')).doctor
    }),
    config,
    leaf('completion', 'print the completion script of a shell', async () => {
      return (await import('./words/completion.ts')).completion
    }),
  ],
}

// The words of the inspector in English.

export const INSPECTOR_EN = {
  inspector: 'Inspector',
  inspectorText: 'What reaches the channel, as it is: for whoever writes programs for it.',
  inspectFeed: 'Feed',
  pause: 'Pause',
  goOn: 'Go on',
  noEntries: 'Nothing is kept.',
  replay: 'Send it again',
  replayHint: 'The password or a key comes from {name}.',
  operation: 'Operation',
  operationId: 'op_id of a submission',
  findOperation: 'Find',
  refusalsOf: 'Refused within the last hour',
  noRefusalsOf: 'None that this process knows of.',
  refusedTimes: '{n} ×, last {age}',
  backToChannel: 'To the channel',
} as const

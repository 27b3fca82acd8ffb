// The texts of the pages for people.

import type { AssistantScope } from '#domain/assistants'

const EN = {
  title: 'Connect an assistant',
  asks: '{client} asks to use one of your channels.',
  mayDo: 'It could then, in this channel:',
  scopes: {
    'mcp:tools': 'send messages, events and updates of things, and read them',
    'mcp:channels:manage': 'ask you for further channels, and let go of channels',
  } satisfies Readonly<Record<AssistantScope, string>>,
  // Before the channels of an earlier grant.
  keeps:
    'You let it use these channels in this browser before. If you enter one of them, it keeps ' +
    'those listed with it too:',
  channel: '{name} ({id})',
  returnsTo: 'Afterwards you return to {target}.',
  unverified: 'The name is what the assistant says of itself; nobody checked it.',
  channelId: 'Channel id',
  password: 'Channel password',
  gatewayToken: 'Gateway token',
  passwordStays: 'The password stays here; the assistant does not see it.',
  allow: 'Allow',
  deny: 'Deny',
  bind: 'Bind this channel',
  boundTitle: 'The channel is bound',
  bound: 'You can close this page and go on with the assistant.',
  commonPassword:
    'The password of this channel is one of the 10,000 most common: strangers try it first. ' +
    'Change it.',
  expiredTitle: 'This page has expired',
  expired: 'It is good for ten minutes. Begin again from the assistant.',
  usedTitle: 'This page was used',
  used: 'It is good for one use. Begin again from the assistant.',
  errorTitle: 'This cannot be done',
  error: 'The assistant sent a request that is not right ({code}). Begin again from the assistant.',
  foreign: 'The form came from another place, or was open for too long. Open the page again.',
  full: 'This assistant has as many channels as it may have.',
  assistantsTitle: 'Assistants of a channel',
  assistants: 'See which assistants may use a channel, and end what you allowed.',
  show: 'Show',
  none: 'No assistant may use this channel.',
  revoke: 'End its use of this channel',
  revoked: 'The assistant cannot use this channel any more.',
  since: 'since {date}',
  times: 'allowed {count} times',
  signOutTitle: 'Sign out of this browser',
  signOutMeans:
    'The gateway forgets this browser. An assistant that you let in again here then gets a grant ' +
    'of its own, without the channels of an earlier one.',
  signOutKeeps:
    'Assistants keep what you allowed. To end that, open the page of the assistants of a channel.',
  signOut: 'Sign out and forget this browser',
  signedOutTitle: 'You are signed out',
  signedOut: 'The gateway does not know this browser any more.',
}

export type Words = Readonly<typeof EN>

const ZH: Words = {
  title: '连接助手',
  asks: '{client} 请求使用您的一个频道。',
  mayDo: '之后它可以在该频道中：',
  scopes: {
    'mcp:tools': '发送并读取消息、事件和物件更新',
    'mcp:channels:manage': '请您绑定更多频道，或解除频道绑定',
  },
  keeps: '您之前在此浏览器中允许它使用以下频道。若输入其中一个，它也将保留与其同列的频道：',
  channel: '{name}（{id}）',
  returnsTo: '完成后将返回 {target}。',
  unverified: '该名称由助手自行声明，未经验证。',
  channelId: '频道 ID',
  password: '频道密码',
  gatewayToken: '网关令牌',
  passwordStays: '密码只留在此处，助手看不到。',
  allow: '允许',
  deny: '拒绝',
  bind: '绑定此频道',
  boundTitle: '频道已绑定',
  bound: '您可以关闭此页面，回到助手继续。',
  commonPassword: '该频道的密码属于最常用的 10,000 个密码之一，陌生人会最先尝试它。请更改密码。',
  expiredTitle: '此页面已过期',
  expired: '页面有效期为十分钟。请从助手重新开始。',
  usedTitle: '此页面已被使用',
  used: '页面只能使用一次。请从助手重新开始。',
  errorTitle: '无法完成',
  error: '助手发送的请求不正确（{code}）。请从助手重新开始。',
  foreign: '表单来自其他位置，或打开时间过长。请重新打开页面。',
  full: '此助手的频道数已达上限。',
  assistantsTitle: '频道的助手',
  assistants: '查看哪些助手可以使用某个频道，并撤销您的授权。',
  show: '显示',
  none: '没有助手可以使用此频道。',
  revoke: '停止其使用此频道',
  revoked: '该助手已无法使用此频道。',
  since: '自 {date}',
  times: '已允许 {count} 次',
  signOutTitle: '在此浏览器中退出',
  signOutMeans: '网关将忘记此浏览器。之后您在此再次允许的助手会得到单独的授权，不含之前的频道。',
  signOutKeeps: '助手保留您已允许的权限。如需撤销，请打开频道的助手页面。',
  signOut: '退出并忘记此浏览器',
  signedOutTitle: '您已退出',
  signedOut: '网关不再认识此浏览器。',
}

export const wordsIn = (locale: string): Words => (locale.startsWith('zh') ? ZH : EN)

/** The sentence with values in place of the names in braces. */
export const filled = (sentence: string, values: Readonly<Record<string, string>>): string =>
  sentence.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)

// The words of the inspector in Simplified Chinese.

import type { INSPECTOR_EN } from './inspector-en.ts'

export const INSPECTOR_ZH_CN: Readonly<Record<keyof typeof INSPECTOR_EN, string>> = {
  inspector: '检查器',
  inspectorText: '到达频道的原始内容，供编写程序的人查看。',
  inspectFeed: '数据流',
  pause: '暂停',
  goOn: '继续',
  noEntries: '没有保留的内容。',
  replay: '再次发送',
  replayHint: '密码或密钥取自 {name}。',
  operation: '操作',
  operationId: '提交的 op_id',
  findOperation: '查找',
  refusalsOf: '最近一小时被拒绝的提交',
  noRefusalsOf: '此进程没有记录。',
  refusedTimes: '{n} 次，最近 {age}',
  backToChannel: '返回频道',
}

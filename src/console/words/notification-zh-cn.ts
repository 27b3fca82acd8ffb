// The words of acknowledging in Simplified Chinese, which the service worker has, too.

import type { NOTIFICATION_EN } from './notification-en.ts'

export const NOTIFICATION_ZH_CN: Readonly<Record<keyof typeof NOTIFICATION_EN, string>> = {
  acknowledge: '确认',
  snooze: '暂缓',
  snoozeHour: '暂缓 1 小时',
  acknowledgedWord: '已确认',
  acknowledgedBy: '由 {who} 处理',
  snoozedUntil: '暂缓至 {time}',
  snoozedBy: '{who} 暂缓至 {time}',
  reminderOf: '第 {n} 次提醒',
  escalatedTo: '无人处理：升级至 {n} 级',
  acknowledgeWaits: '尚未发送：网关没有应答。恢复后会自动发送。',
  acknowledgeFailed: '未能确认',
}

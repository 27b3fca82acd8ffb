// The words of acknowledging in English, which the service worker has, too.

export const NOTIFICATION_EN = {
  acknowledge: 'Acknowledge',
  snooze: 'Snooze',
  snoozeHour: 'Snooze 1 h',
  acknowledgedWord: 'Acknowledged',
  acknowledgedBy: '{who} has it',
  snoozedUntil: 'Snoozed until {time}',
  snoozedBy: 'Snoozed by {who} until {time}',
  reminderOf: 'Reminder {n}',
  escalatedTo: 'Nobody has it: level {n}',
  acknowledgeWaits: 'Not sent yet: the gateway does not answer. It is sent once it does.',
  acknowledgeFailed: 'Not acknowledged',
} as const

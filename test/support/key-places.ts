// Requests in which a key may stand.

import { DEVICE_KEY } from '#test/support/making'

/** Native requests in which a key may stand, and the scope that each needs. */
export const PLACES: readonly (readonly [path: string, fields: object, scope: 'send' | 'read'])[] =
  [
    ['/message', { title: 'T' }, 'send'],
    ['/event/create', { event_time: 1 }, 'send'],
    ['/event/update', { event_time: 1, event_id: 'e' }, 'send'],
    ['/event/close', { event_time: 1, event_id: 'e' }, 'send'],
    ['/thing/t/event/create', { event_time: 1 }, 'send'],
    ['/thing/create', { observed_at: 1 }, 'send'],
    ['/thing/update', { observed_at: 1, thing_id: 't' }, 'send'],
    ['/thing/archive', { observed_at: 1, thing_id: 't' }, 'send'],
    ['/thing/delete', { observed_at: 1, thing_id: 't' }, 'send'],
    ['/thing/get', { thing_id: 't' }, 'read'],
    ['/thing/list', {}, 'read'],
    ['/thing/series', { thing_id: 't', from: 1 }, 'read'],
    ['/event/get', { event_id: 'e' }, 'read'],
    ['/event/list', {}, 'read'],
    ['/channel/history', {}, 'read'],
    ['/channel/info', {}, 'read'],
  ]

/** Requests of a key for Things of boiler-: its own, and those that it must not make. */
export const PREFIXED: readonly (readonly [path: string, fields: object, isOwn: boolean])[] = [
  ['/thing/update', { observed_at: 1, thing_id: 'boiler-1' }, true],
  ['/thing/update', { observed_at: 1, thing_id: 'boiler' }, false],
  ['/thing/archive', { observed_at: 1, thing_id: 'door-1' }, false],
  ['/thing/delete', { observed_at: 1, thing_id: 'xboiler-1' }, false],
  ['/thing/create', { observed_at: 1 }, false],
  ['/thing/boiler-1/event/create', { event_time: 1 }, true],
  ['/thing/door-1/event/create', { event_time: 1 }, false],
  ['/event/create', { event_time: 1, thing_id: 'boiler-1' }, true],
  ['/event/create', { event_time: 1, thing_id: 'door-1' }, false],
  ['/event/create', { event_time: 1 }, false],
  ['/event/update', { event_time: 1, event_id: 'e' }, true],
  ['/event/update', { event_time: 1, event_id: 'e', thing_id: 'boiler-2' }, true],
  ['/event/update', { event_time: 1, event_id: 'e', thing_id: 'door-1' }, false],
  ['/event/close', { event_time: 1, event_id: 'e', thing_id: '' }, false],
  ['/message', { title: 'T' }, false],
  ['/message', { title: 'T', thing_id: 'boiler-1', occurred_at: 1 }, false],
  ['/thing/get', { thing_id: 'door-1' }, false],
  ['/thing/series', { thing_id: 'boiler-1', from: 1 }, true],
  ['/thing/series', { thing_id: 'door-1', from: 1 }, false],
  ['/thing/series', { thing_ids: ['boiler-1', 'door-1'], attrs: ['t'], from: 1 }, false],
  ['/channel/info', {}, false],
  ['/channel/subscribe', { device_key: DEVICE_KEY }, false],
]

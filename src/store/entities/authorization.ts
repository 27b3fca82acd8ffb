import type { ColumnTypes } from '#src/store/dialect'
import { key, tableOf, withDefault } from './table.ts'
import type { RowOf } from './table.ts'

export const authorizationRecordEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf({
    name: 'authorization_records',
    columns: {
      model: key(text(40)),
      idHash: key(text(64)),
      grantId: text(64),
      uid: text(64),
      payload: document,
      consumedAt: integer,
      expiresAt: integer,
    },
    indices: [
      { name: 'authorization_records_by_grant', columns: ['grantId'] },
      { name: 'authorization_records_by_uid', columns: ['uid'] },
      { name: 'authorization_records_by_end', columns: ['expiresAt'] },
      { name: 'authorization_records_by_kind', columns: ['model', 'expiresAt', 'idHash'] },
    ],
  })

export const authorizationSecretEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf({
    name: 'authorization_secrets',
    columns: {
      purpose: key(text(40)),
      period: key(integer),
      secret: document,
    },
  })

export type AuthorizationSecretRow = RowOf<typeof authorizationSecretEntity>

export const bindingEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'bindings',
    columns: {
      grantId: key(text(64)),
      channel: key(integer),
      /** The channel's at the time: with another one the binding is void. */
      passwordHash: text(255),
      client: withDefault(text(64), ''),
      browser: withDefault(text(64), ''),
      clientName: text(512),
      boundAt: integer,
    },
    indices: [
      { name: 'bindings_by_channel', columns: ['channel', 'grantId'] },
      { name: 'bindings_by_browser', columns: ['browser', 'client'] },
    ],
  })

export type BindingRow = RowOf<typeof bindingEntity>

export const bindSessionEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'bind_sessions',
    columns: {
      bindSession: key(text(32)),
      secretHash: text(64),
      grantId: text(64),
      client: withDefault(text(64), ''),
      browser: withDefault(text(64), ''),
      clientName: text(512),
      /** 0 until it was used. */
      channel: integer,
      expiresAt: integer,
    },
    indices: [
      { name: 'bind_sessions_by_secret', columns: ['secretHash'], unique: true },
      { name: 'bind_sessions_by_grant', columns: ['grantId'] },
      { name: 'bind_sessions_by_end', columns: ['expiresAt'] },
    ],
  })

export type BindSessionRow = RowOf<typeof bindSessionEntity>

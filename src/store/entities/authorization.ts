import type { AuthorizationRecord } from '#domain/authorization-store'
import type { ColumnTypes } from '#src/store/dialect'
import { tableOf } from './table.ts'

export const authorizationRecordEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf<AuthorizationRecord>({
    name: 'authorization_records',
    columns: {
      model: { ...text(40), primary: true },
      idHash: { ...text(64), name: 'id_hash', primary: true },
      grantId: { ...text(64), name: 'grant_id' },
      uid: text(64),
      payload: document,
      consumedAt: { ...integer, name: 'consumed_at' },
      expiresAt: { ...integer, name: 'expires_at' },
    },
    indices: [
      { name: 'authorization_records_by_grant', columns: ['grantId'] },
      { name: 'authorization_records_by_uid', columns: ['uid'] },
      { name: 'authorization_records_by_end', columns: ['expiresAt'] },
      { name: 'authorization_records_by_kind', columns: ['model', 'expiresAt', 'idHash'] },
    ],
  })

export type AuthorizationSecretRow = {
  readonly purpose: string
  readonly period: number
  readonly secret: string
}

export const authorizationSecretEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf<AuthorizationSecretRow>({
    name: 'authorization_secrets',
    columns: {
      purpose: { ...text(40), primary: true },
      period: { ...integer, primary: true },
      secret: document,
    },
  })

export type BindingRow = {
  readonly grantId: string
  readonly channel: number
  /** The channel's at the time: with another one the binding is void. */
  readonly passwordHash: string
  readonly client: string
  readonly browser: string
  readonly clientName: string
  readonly boundAt: number
}

export const bindingEntity = ({ integer, text }: ColumnTypes) =>
  tableOf<BindingRow>({
    name: 'bindings',
    columns: {
      grantId: { ...text(64), name: 'grant_id', primary: true },
      channel: { ...integer, primary: true },
      passwordHash: { ...text(255), name: 'password_hash' },
      client: { ...text(64), default: '' },
      browser: { ...text(64), default: '' },
      clientName: { ...text(512), name: 'client_name' },
      boundAt: { ...integer, name: 'bound_at' },
    },
    indices: [
      { name: 'bindings_by_channel', columns: ['channel', 'grantId'] },
      { name: 'bindings_by_browser', columns: ['browser', 'client'] },
    ],
  })

export type BindSessionRow = {
  readonly bindSession: string
  readonly secretHash: string
  readonly grantId: string
  readonly client: string
  readonly browser: string
  readonly clientName: string
  /** 0 until it was used. */
  readonly channel: number
  readonly expiresAt: number
}

export const bindSessionEntity = ({ integer, text }: ColumnTypes) =>
  tableOf<BindSessionRow>({
    name: 'bind_sessions',
    columns: {
      bindSession: { ...text(32), name: 'bind_session', primary: true },
      secretHash: { ...text(64), name: 'secret_hash' },
      grantId: { ...text(64), name: 'grant_id' },
      client: { ...text(64), default: '' },
      browser: { ...text(64), default: '' },
      clientName: { ...text(512), name: 'client_name' },
      channel: integer,
      expiresAt: { ...integer, name: 'expires_at' },
    },
    indices: [
      { name: 'bind_sessions_by_secret', columns: ['secretHash'], unique: true },
      { name: 'bind_sessions_by_grant', columns: ['grantId'] },
      { name: 'bind_sessions_by_end', columns: ['expiresAt'] },
    ],
  })

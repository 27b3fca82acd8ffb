// Brings rows of forms that the version before read, and mostly wrote no more, into the one form
// of the baseline.

import { createHmac } from 'node:crypto'

import type { QueryRunner } from 'typeorm'

import { isRecord } from '#domain/record'
import { addColumn, dropColumn, inTransaction, isMySql } from './changes.ts'

const ROWS_AT_ONCE = 128

/** Each part does nothing when it is done. (take-over/1) */
export async function convertRows(runner: QueryRunner): Promise<void> {
  await addColumn(runner, 'mqtt_sessions', {
    name: 'key_id',
    definition: "varchar(32) NOT NULL DEFAULT ''",
  })
  await addColumn(runner, 'lanes', {
    name: 'owner',
    definition: "varchar(128) NOT NULL DEFAULT ''",
  })
  await addColumn(runner, 'devices', { name: 'label', definition: 'varchar(64)' })
  await addColumn(runner, 'subscriptions', {
    name: 'notify',
    definition: isMySql(runner) ? 'mediumtext' : 'text',
  })
  await convertKeys(runner)
  await convertPasswordHashes(runner)
  for (const table of ['things', 'events']) await convertDocuments(runner, table)
  // A grant without a client counts as a client of its own.
  await runner.query(
    `UPDATE authorization_records SET payload = json_set(payload, '$.client', grant_id,
        '$.browser', '')
      WHERE model = 'GrantName' AND json_extract(payload, '$.client') IS NULL`,
  )
  await runner.query("DELETE FROM gateway_meta WHERE name = 'compact_since'")
  await buryParked(runner)
}

/** Submissions that waited because the database refused their rows are dead letters now. */
async function buryParked(runner: QueryRunner): Promise<void> {
  if (!(await runner.hasTable('parked_submissions'))) return
  await inTransaction(runner, async () => {
    // MySQL gives a text with its quotes; an op_id has none in it.
    await runner.query(
      `UPDATE operations SET status = 'failed', error_code = 'internal_error'
        WHERE status = 'processing' AND op_id IN
          (SELECT replace(json_extract(payload, '$.opId'), '"', '') FROM parked_submissions)`,
    )
    await runner.query(
      `INSERT INTO dead_letters (lane, position, item, payload, error, at)
        SELECT lane, position, item, payload, error, json_extract(payload, '$.acceptedAt')
        FROM parked_submissions ORDER BY id`,
    )
    await runner.query('DELETE FROM parked_submissions')
  })
  await runner.query('DROP TABLE parked_submissions')
}

/** Keys with epoch 0 name the password hash for which they are good. */
async function convertKeys(runner: QueryRunner): Promise<void> {
  if (!(await runner.hasColumn('channel_keys', 'password_hash'))) return
  await runner.query(
    `UPDATE channels SET keys_epoch = keys_epoch + 1, keys_hash = password_hash
      WHERE keys_hash <> password_hash AND EXISTS (SELECT 1 FROM channel_keys k WHERE
        k.channel = channels.id AND k.epoch = 0 AND k.password_hash = channels.password_hash)`,
  )
  await runner.query(
    `UPDATE channel_keys
      SET epoch = (SELECT c.keys_epoch FROM channels c WHERE c.id = channel_keys.channel)
      WHERE epoch = 0 AND password_hash =
        (SELECT c.password_hash FROM channels c WHERE c.id = channel_keys.channel)`,
  )
  await runner.query('DELETE FROM channel_keys WHERE epoch = 0')
  await dropColumn(runner, 'channel_keys', 'password_hash')
}

/** scrypt$N$r$p$<salt of the channel>$<key> */
const FORMER_HASH = /^scrypt\$(\d+\$\d+\$\d+)\$([\w-]{22})\$([\w-]{43})$/

/** The MAC needs the key alone, so no password has to be known; the salt serves as both salts. */
export function presentHash(text: string): string {
  const [, parameters = '', salt = '', key = ''] = FORMER_HASH.exec(text) ?? []
  const mac = createHmac('sha256', Buffer.from(key, 'base64url'))
  const proof = mac.update(Buffer.from(salt, 'base64url')).digest('base64url')
  return ['scrypt-hmac', parameters, salt, salt, proof].join('$')
}

async function convertPasswordHashes(runner: QueryRunner): Promise<void> {
  const rows = (await runner.query(
    `SELECT id, password_hash AS text FROM channels WHERE password_hash LIKE 'scrypt$%'`,
  )) as { readonly id: number; readonly text: string }[]
  for (const { id, text } of rows) {
    if (!FORMER_HASH.test(text)) continue
    // A binding, and the epoch of the keys, are good for one hash. The channel is found by its own,
    // which therefore changes last. (take-over/1)
    for (const [table, column, key] of [
      ['bindings', 'password_hash', 'channel'],
      ['channels', 'keys_hash', 'id'],
      ['channels', 'password_hash', 'id'],
    ]) {
      await runner.query(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ? AND ${column} = ?`, [
        presentHash(text),
        id,
        text,
      ])
    }
  }
}

interface Stored {
  readonly channel: number
  readonly id: string
  readonly document: string
}

/** Documents in which each value stood in a pair with its time. */
async function convertDocuments(runner: QueryRunner, table: string): Promise<void> {
  let last = { channel: 0, id: '' }
  for (;;) {
    const rows = (await runner.query(
      `SELECT channel, id, document FROM ${table}
        WHERE channel >= ? AND (channel > ? OR id > ?)
          AND json_extract(document, '$.times') IS NULL
        ORDER BY channel, id LIMIT ${ROWS_AT_ONCE}`,
      [last.channel, last.channel, last.id],
    )) as Stored[]
    for (const { channel, id, document } of rows) {
      await runner.query(`UPDATE ${table} SET document = ? WHERE channel = ? AND id = ?`, [
        presentDocument(document),
        channel,
        id,
      ])
      last = { channel, id }
    }
    if (rows.length === 0) return
  }
}

/** Keeps the times that are not the one of the newest reading. */
function presentDocument(document: string): string {
  const parsed: unknown = JSON.parse(document)
  if (!isRecord(parsed)) return document
  const times: Record<string, Record<string, unknown> | undefined> = {}
  const present: Record<string, unknown> = { ...parsed }
  for (const part of ['fields', 'attrs', 'externalIds']) {
    const pairs = Object.entries(parsed[part] ?? {}) as [string, readonly [unknown, unknown]][]
    const late = pairs.filter(([, [, time]]) => time !== parsed['at'])
    present[part] = Object.fromEntries(pairs.map(([name, [value]]) => [name, value]))
    if (late.length > 0)
      times[part] = Object.fromEntries(late.map(([name, [, time]]) => [name, time]))
  }
  return JSON.stringify({ ...present, times })
}

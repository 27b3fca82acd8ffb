// Goal: only its owner reads a device key, and each gateway has its own.
// Method: each test makes a folder of its own under the system's temporary one.

import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { parseDeviceKey } from '#domain/identity'
import { deviceKeyPath, readDeviceKeyFile, writeDeviceKeyFile } from '#src/cli/this-device'

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

const KEY = parseDeviceKey('0123456789abcdef0123456789abcdef')
const OTHER = parseDeviceKey('ffffffffffffffffffffffffffffffff')
const modeOf = (path: string): number => statSync(path).mode & 0o777

test('readDeviceKeyFile gives the key that was written last', (t) => {
  const path = deviceKeyPath({ XDG_STATE_HOME: folderOf(t) }, 'http://127.0.0.1:8080')
  t.is(readDeviceKeyFile(path), undefined)
  if (KEY === undefined || OTHER === undefined) throw new Error('the keys have the form of keys')
  writeDeviceKeyFile(path, { key: KEY })
  t.deepEqual(readDeviceKeyFile(path), { key: KEY })
  const other = { key: OTHER, platform: 'ios' } as const
  writeDeviceKeyFile(path, other)
  t.deepEqual(readDeviceKeyFile(path), other)
  t.is(readdirSync(dirname(path)).length, 1)
})

test('device-key-file/1: no other user may read the file or its folder', (t) => {
  const path = deviceKeyPath({ XDG_STATE_HOME: folderOf(t) }, 'http://127.0.0.1:8080')
  if (KEY === undefined) throw new Error('the key has the form of a key')
  writeDeviceKeyFile(path, { key: KEY })
  t.is(modeOf(path), 0o600)
  t.is(modeOf(dirname(path)), 0o700)
})

test('device-key-file/1: readDeviceKeyFile makes a file private that others can read', (t) => {
  const path = deviceKeyPath({ XDG_STATE_HOME: folderOf(t) }, 'http://127.0.0.1:8080')
  if (KEY === undefined) throw new Error('the key has the form of a key')
  writeDeviceKeyFile(path, { key: KEY })
  chmodSync(path, 0o644)
  t.deepEqual(readDeviceKeyFile(path), { key: KEY })
  t.is(modeOf(path), 0o600)
})

test('a file without a key counts as no file', (t) => {
  const path = join(folderOf(t), 'key')
  writeFileSync(path, 'not a key\n')
  t.is(readDeviceKeyFile(path), undefined)
})

test('each gateway has its own file, and a relative state folder does not count', (t) => {
  const env = { XDG_STATE_HOME: '/state' }
  const path = (baseUrl: string): string => deviceKeyPath(env, baseUrl)
  t.regex(
    path('http://127.0.0.1:8080'),
    /^\/state\/heliograph\/127\.0\.0\.1_8080-[0-9a-f]{8}\.key$/,
  )
  t.is(new Set(['http://a.example', 'https://a.example', 'http://a.example/x'].map(path)).size, 3)
  t.regex(deviceKeyPath({ XDG_STATE_HOME: 'state' }, 'http://a.example'), /\.local\/state\/heliogr/)
})

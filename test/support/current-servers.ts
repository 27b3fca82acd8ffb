// The database and NATS of the tests: MariaDB and the nats-server of this machine, or today's MySQL
// and NATS when HELIOGRAPH_CURRENT_SERVERS names a folder that has them. (docs/testing.md)

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { MariaDbServer, MariaDbStarted } from '#src/dev/servers/mariadb'
import { startNats } from '#src/dev/servers/nats'
import type { NatsOptions, NatsStarted } from '#src/dev/servers/nats'
import { startCopiedMariaDb } from '#test/support/copied-mariadb'
import { reservePort } from '#src/dev/servers/port'
import { ServerProcess } from '#src/dev/servers/server-process'

const ROOT = process.env['HELIOGRAPH_CURRENT_SERVERS'] ?? ''

/** True: today's MySQL and NATS take the place of this machine's servers. */
export const ARE_CURRENT = ROOT !== ''

const SMALL = [
  '--innodb-buffer-pool-size=128M',
  '--innodb-redo-log-capacity=64M',
  '--table-open-cache=200',
  '--performance-schema=OFF',
  '--mysqlx=OFF',
]

/**
 * For databases that no test cuts the power of: what a process has written outlives it, and syncing
 * costs more than all else. A file for each table takes most of the time of making tables.
 */
export const UNSYNCED: readonly string[] = [
  '--innodb-flush-log-at-trx-commit=2',
  '--innodb-flush-method=nosync',
  '--innodb-file-per-table=0',
]

/** Starts the nats-server of the tests; today's syncs each append before it confirms it. */
export const startTestNats = (options: Omit<NatsOptions, 'env'> = {}): Promise<NatsStarted> =>
  ROOT === ''
    ? startNats({ env: process.env, ...options })
    : startNats({
        env: { ...process.env, PATH: `${join(ROOT, 'usr/sbin')}:${process.env['PATH']}` },
        syncsAlways: true,
        ...options,
      })

/** Starts the database server of the tests, with additional parameters. */
export const startTestDatabase = (parameters: readonly string[]): Promise<MariaDbStarted> =>
  ROOT === '' ? startCopiedMariaDb(parameters) : startMySql(parameters)

/**
 * Starts the mysqld of the folder, with its libraries and its binary log. Root has no password, as
 * in MariaDB's servers of the tests.
 */
async function startMySql(parameters: readonly string[]): Promise<MariaDbStarted> {
  const directory = await mkdtemp(join(tmpdir(), 'heliograph-mysql-'))
  const temporary = join(directory, 'tmp')
  await mkdir(temporary)
  const { port, release } = await reservePort()
  const socket = join(directory, 'server.sock')
  const [loader, ...words] = mysqld()
  const common = [
    ...words,
    '--no-defaults',
    `--user=${userInfo().username}`,
    `--datadir=${join(directory, 'data')}`,
    `--tmpdir=${temporary}`,
    `--basedir=${join(ROOT, 'usr')}`,
    `--lc-messages-dir=${join(ROOT, 'usr/share/mysql')}`,
    '--secure-file-priv=NULL',
  ]
  await promisify(execFile)(loader, [...common, ...SMALL, '--initialize-insecure'])
  const mysql = new ServerProcess({
    file: loader,
    parameters: [
      ...common,
      `--socket=${socket}`,
      `--pid-file=${join(directory, 'server.pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      ...SMALL,
      ...parameters,
    ],
    env: process.env,
    readyLine: /ready for connections\. .*port: [1-9]/,
  })
  const server: MariaDbServer = {
    port,
    socket,
    urlOf: (database) => `mysql://root@127.0.0.1:${port}/${database}`,
    stop: async () => {
      await mysql.close()
      await release()
      await rm(directory, { recursive: true, force: true })
    },
    kill: (signal) => mysql.end(signal),
    restart: async () => {
      await mysql.end('SIGKILL')
      await mysql.start()
    },
  }
  try {
    await mysql.start()
  } catch (error) {
    await server.stop()
    throw error
  }
  return { kind: 'started', server }
}

/** The folder's loader runs its mysqld: this machine's libraries may be older. */
function mysqld(): readonly [string, ...string[]] {
  const machine = { arm64: 'aarch64', x64: 'x86_64' }[process.arch as string] ?? process.arch
  const libraries = `usr/lib/${machine}-linux-gnu`
  const name = machine === 'x86_64' ? 'ld-linux-x86-64.so.2' : `ld-linux-${machine}.so.1`
  return [
    join(ROOT, libraries, name),
    '--library-path',
    `${join(ROOT, libraries)}:${join(ROOT, 'usr/lib/mysql/private')}`,
    join(ROOT, 'usr/sbin/mysqld'),
  ]
}

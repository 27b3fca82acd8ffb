// Loaded before the demo of which pictures are made: its computer has a name that says nothing, and
// no processes but those of the pictures.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'

os.hostname = () => 'home-server'

const everything = fs.readdirSync.bind(fs) as (path: fs.PathLike) => string[]

/** True for a process that the one that makes the pictures has started, and for itself. */
function isOwn(name: string): boolean {
  let pid = Number(name)
  while (pid > 1 && pid !== process.ppid) {
    try {
      const [, afterName = ''] =
        /^.*\) (.*)$/s.exec(fs.readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      pid = Number(afterName.split(' ')[1])
    } catch {
      return false // It has ended meanwhile.
    }
  }
  return pid === process.ppid
}

fs.readdirSync = ((path: fs.PathLike) =>
  path === '/proc' ? everything(path).filter(isOwn) : everything(path)) as typeof fs.readdirSync
syncBuiltinESMExports()

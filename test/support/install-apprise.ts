// Puts Apprise, a widespread sender of notifications, where the tests look for it:
// `npm run clients`. It needs Python 3 with venv, and a package index that pip knows.

import { execFileSync } from 'node:child_process'

import { APPRISE_FOLDER } from '#test/support/apprise'

const VERSION = '2.2.0'

execFileSync('python3', ['-m', 'venv', APPRISE_FOLDER], { stdio: 'inherit' })
execFileSync(`${APPRISE_FOLDER}/bin/pip`, ['install', '--quiet', `apprise==${VERSION}`], {
  stdio: 'inherit',
})

// Gateways of stories check a password in a thousandth of the work: each of their hundreds would
// take a third of a second otherwise, and what it costs is told by test/acceptance.

const CODE = `
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
const { scrypt } = crypto
const LITTLE = { N: 16, r: 8, p: 1 }
crypto.scrypt = (password, salt, length, _, done) => scrypt(password, salt, length, LITTLE, done)
syncBuiltinESMExports()`

/** What Node is told to load before a program; as JavaScript, which needs no reading of types. */
export const QUICK_PASSWORDS = `--import=data:text/javascript,${encodeURIComponent(CODE)}`

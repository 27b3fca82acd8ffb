// A certificate for this machine, made by openssl.

import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const REQUEST = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2
  -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1`.split(/\s+/)

/** Makes the files of a certificate and its key in a folder, which it makes too. */
export async function makeCertificate(
  directory: string,
): Promise<{ readonly certFile: string; readonly keyFile: string }> {
  await mkdir(directory, { recursive: true })
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  await promisify(execFile)('openssl', [...REQUEST, '-keyout', keyFile, '-out', certFile])
  return { certFile, keyFile }
}

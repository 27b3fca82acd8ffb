import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import test from 'ava'

import { clientAddress } from '#src/http/client-address'
import { createHttp } from '#src/http/http'
import { whyNoTls } from '#src/http/tls-check'
import { makeCertificate, withCertificate } from '#test/support/certificate'
import { FakeTime } from '#test/support/fake-timers'
import { temporaryFolder } from '#test/support/gateway'

const SECRET = 'hunter2'

test(
  'a certificate or key that cannot be used is told with its setting, and nothing of it',
  withCertificate(async (t, { certFile, keyFile }) => {
    t.is(whyNoTls({ certFile, keyFile }), undefined)
    const other = await makeCertificate(t)
    const folder = await temporaryFolder(t)
    const none = join(folder, 'none.pem')
    const noPem = join(folder, 'no.pem')
    await writeFile(noPem, SECRET)
    const rows: [certFile: string, keyFile: string, sentence: RegExp][] = [
      [certFile, none, /^SERVICE_HTTP_TLS_KEY names .*, which cannot be read \(ENOENT\)$/],
      [none, keyFile, /^SERVICE_HTTP_TLS_CERT names .*, which cannot be read \(ENOENT\)$/],
      // A folder can be read by nobody, root included.
      [certFile, folder, /^SERVICE_HTTP_TLS_KEY names .*, which cannot be read \(EISDIR\)$/],
      [folder, keyFile, /^SERVICE_HTTP_TLS_CERT names .*, which cannot be read \(EISDIR\)$/],
      [certFile, noPem, /^SERVICE_HTTP_TLS_KEY names .*, which holds no private key in PEM form/],
      [noPem, keyFile, /^SERVICE_HTTP_TLS_CERT names .*, which holds no certificate in PEM form$/],
      [certFile, other.keyFile, /^SERVICE_HTTP_TLS_KEY names .*, which is not the key of the/],
    ]
    const time = new FakeTime(0)
    const clocks = { timers: time, monotonicMs: time.monotonicMs }
    const options = { ...clocks, clientAddress: clientAddress([]), bodyTimeoutMs: 1 }
    for (const [cert, key, sentence] of rows) {
      const tls = { certFile: cert, keyFile: key }
      const error = t.throws(() => createHttp({ ...options, tls }), { message: sentence })
      t.notRegex(`${error.message} ${error.stack}`, new RegExp(`${SECRET}|PRIVATE`))
    }
  }),
)

// Goal: whoever starts a gateway at a terminal reads the address to open.

import test from 'ava'

import { openingLine } from '#src/process/opening-line'

const CONFIG = {
  console: true,
  http: { host: '127.0.0.1', port: 0 },
  tls: undefined,
  publicBaseUrl: undefined,
}
const tls = { certFile: 'c', keyFile: 'k' }

test('the line names the address of the console as this computer reaches it', (t) => {
  const rows: [config: Partial<Parameters<typeof openingLine>[0]>, line: string][] = [
    [{}, 'open http://127.0.0.1:8080/console/\n'],
    [{ http: { host: '0.0.0.0', port: 0 } }, 'open http://localhost:8080/console/\n'],
    [{ http: { host: '::', port: 0 }, tls }, 'open https://localhost:8080/console/\n'],
    [{ http: { host: '::1', port: 0 } }, 'open http://[::1]:8080/console/\n'],
    [{ publicBaseUrl: 'https://push.example' }, 'open https://push.example/console/\n'],
    [{ console: false }, ''],
  ]
  for (const [config, line] of rows) t.is(openingLine({ ...CONFIG, ...config }, 8080), line)
})

// Schemathesis against a gateway: requests made of its document, right and wrong ones.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { clientProgram } from '#test/support/clients/programs'
import { post, startGateway, temporaryFolder } from '#test/support/gateway'
import type { Owner } from '#test/support/gateway'

const TOKEN = 'a-token-for-this-run'
const PASSWORD = 'correct-horse-battery'
const BUDGETS = {
  SERVICE_PASSWORD_BUDGET_PER_ADDRESS: '1000000',
  SERVICE_PASSWORD_BUDGET_TOTAL: '1000000',
  SERVICE_DEVICE_BUDGET_PER_ADDRESS: '100000',
}

/** Runs it on the terminal; gives its exit code. `examples`: of each operation. */
export async function schemathesis(owner: Owner, examples: string): Promise<number> {
  const gateway = await startGateway(owner, { env: { SERVICE_TOKEN: TOKEN, ...BUDGETS } })
  const made = await post(gateway, '/channel/create', { channel_name: 'C', password: PASSWORD })
  const device = await post(gateway, '/device/register', { platform: 'android' })
  const words = [
    'run',
    `${gateway.baseUrl}/openapi.json?styles=1`,
    `--header=Authorization: Bearer ${TOKEN}`,
    '--request-timeout=60',
    '--phases=examples,coverage,fuzzing',
    `--max-examples=${examples}`,
    '--continue-on-failure',
    '--suppress-health-check=too_slow',
  ]
  const env = {
    ...process.env,
    PYTHONPATH: new URL('.', import.meta.url).pathname,
    SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
    CHANNEL: String(made.body.data['channel_id']),
    DEVICE: String(device.body.data['device_key']),
  }
  const child = spawn(clientProgram('schemathesis'), words, {
    // It keeps what it found in its folder.
    cwd: await temporaryFolder(owner),
    env,
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

// The environment for a gateway that a command starts.

import type { Env } from '#src/config/environment'

const SETTING = /^(SERVICE|HELIOGRAPH)_/

/** The environment without settings of other gateways and of this command line. */
export const withoutSettings = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SETTING.test(name)))

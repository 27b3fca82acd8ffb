// Types the settings of a provider.

import type { Env } from '#src/config/setting'

/** The role of a process for which settings are read: only one that dispatches needs files. */
export interface ReadingFor {
  readonly dispatch: boolean
}

export interface SettingsOf<Settings> {
  /** The environment variables that `read` reads. */
  readonly names: readonly string[]
  /** Returns undefined when the provider is not set up; throws ConfigError for a bad value. */
  readonly read: (env: Env, reading: ReadingFor) => Settings | undefined
}

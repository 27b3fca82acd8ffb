// The gateway that served this page, and what it answers to calls.

import { computed } from '@preact/signals'

import { createClient } from '#src/client/client'
import { HeliographError } from '#src/client/error'
import { WEB } from '#src/client/runtime'
import { settingPresent } from './present.ts'
import { language, token } from './saved.ts'

/** The address of the gateway: the page stands at `<address>/console/`. */
export const BASE_URL = new URL('..', location.href.split('#')[0]).href.replace(/\/$/, '')

/** A client with the present token and language. */
export const client = computed(() =>
  createClient({
    baseUrl: BASE_URL,
    token: token.value === '' ? undefined : token.value,
    language: language.value,
    timeoutMs: 15_000,
    fetch: settingPresent(WEB.fetch),
  }),
)

/** True for the refusal of a gateway that wants another gateway token. */
export const wantsToken = (error: unknown): boolean =>
  error instanceof HeliographError && error.code === 'authentication_failed'

export const codeOf = (error: unknown): string | undefined =>
  error instanceof HeliographError ? error.code : undefined

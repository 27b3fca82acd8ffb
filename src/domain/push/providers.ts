// The push providers as callers see them, one row each. Channel types, the checks of requests,
// their OpenAPI document and the words of the command line derive from these rows. What the gateway
// does with a provider is in src/providers. (decisions.md 7)

import type { FaultCode } from '#domain/fault'
import { readSubscription, subscriptionText } from './subscription.ts'

// The platforms of devices.

export const PLATFORMS = [
  'ios',
  'ipados',
  'macos',
  'watchos',
  'android',
  'windows',
  'web',
  'linux',
  'other',
] as const
export type Platform = (typeof PLATFORMS)[number]

const APPLE_PLATFORMS: readonly Platform[] = ['ios', 'ipados', 'macos', 'watchos']

interface PushProviderRow {
  /** The devices and the service, for people: `Apple device over APNs`. */
  readonly title: string
  /** The one who accepts or retires its tokens, for people: `Apple`. */
  readonly service: string
  /** The platforms that it reaches, and the refusal of any other; absent when it reaches all. */
  readonly only?: { readonly platforms: readonly Platform[]; readonly otherwise: FaultCode }
  readonly token: TokenForm
}

/** The form of a provider's tokens. No text is a token of two providers for one platform. */
export interface TokenForm {
  /** The form for people. */
  readonly rule: string
  /** The form as the OpenAPI document has it: a regular expression of ECMA-262. */
  readonly pattern: string
  readonly example: string
  /**
   * Returns the token as it is kept, of a text without white space around it; undefined for a text
   * of another form.
   */
  readonly read: (sent: string) => string | undefined
}

const PUSH_PROVIDERS = {
  apns: {
    title: 'Apple device over APNs',
    service: 'Apple',
    only: { platforms: APPLE_PLATFORMS, otherwise: 'apns_channel_requires_apple_platform' },
    token: {
      ...formOf('[0-9A-Fa-f]{64,256}', (token) => token.toLowerCase()),
      rule: '64 to 256 hex digits',
      example: '0123456789abcdef'.repeat(4),
    },
  },
  fcm: {
    title: 'Android device over FCM',
    service: 'Google',
    only: { platforms: ['android'], otherwise: 'fcm_channel_requires_android_platform' },
    token: {
      // A token of Google has no brace; a text that begins with one is of another provider.
      ...formOf('(?!\\{)[!-~]{16,4096}', (token) => token),
      rule: '16 to 4096 printable ASCII characters, the first of them no brace',
      example: 'fcm-registration-token-01',
    },
  },
  webpush: {
    title: 'Browser over Web Push, or app over UnifiedPush',
    service: 'a push service',
    token: {
      rule: 'the JSON of a PushSubscription with endpoint, keys.p256dh and keys.auth',
      pattern: '\\{[\\s\\S]{100,4094}\\}',
      example: subscriptionText({
        endpoint: 'https://push.example/wpush/v2/subscription-01',
        keys: {
          p256dh: `B${'A'.repeat(86)}`,
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        },
      }),
      read: (sent) => {
        const subscription = readSubscription(sent)
        return subscription && subscriptionText(subscription)
      },
    },
  },
} as const satisfies Readonly<Record<string, PushProviderRow>>

export type ProviderName = keyof typeof PUSH_PROVIDERS
/** The names of the providers. Each has a folder of src/providers. */
export const PROVIDERS = Object.keys(PUSH_PROVIDERS) as readonly ProviderName[]

/** Returns the row of a provider. */
export const providerRow = (name: ProviderName): PushProviderRow => PUSH_PROVIDERS[name]

/** Returns the platforms that a provider reaches. */
export const platformsOf = ({ only }: Pick<PushProviderRow, 'only'>): readonly Platform[] =>
  only?.platforms ?? PLATFORMS

/** Returns the form of tokens that a regular expression describes wholly. */
function formOf(
  pattern: string,
  kept: (token: string) => string,
): Pick<TokenForm, 'pattern' | 'read'> {
  const whole = new RegExp(`^(?:${pattern})$`)
  return { pattern, read: (sent) => (whole.test(sent) ? kept(sent) : undefined) }
}

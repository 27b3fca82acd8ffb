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

export const APPLE_PLATFORMS: readonly Platform[] = ['ios', 'ipados', 'macos', 'watchos']

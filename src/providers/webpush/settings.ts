// The settings of Web Push.

import { cidrs, publicBaseUrl, read, refuse } from '#src/config/setting'
import type { SettingsOf } from '#src/providers/settings-of'

export interface WebPushSettings {
  /** The contact of the gateway for push services: `mailto:` or an https address. */
  readonly subject: string
  /** CIDR blocks of the push services in networks of one's own. */
  readonly privateNetworks: readonly string[]
  /** The address at which people open what a push is about; '' when it is not known. */
  readonly baseUrl: string
}

const SUBJECT = 'SERVICE_WEBPUSH_SUBJECT'
const NETWORKS = 'SERVICE_WEBPUSH_PRIVATE_NETWORKS'
const MAIL = /^mailto:[^\s@<>"\\]{1,64}@[^\s@<>"\\]{1,255}$/

export const WEBPUSH_SETTINGS: SettingsOf<WebPushSettings> = {
  names: [SUBJECT, NETWORKS],
  read: (env) => {
    const subject = read(env, SUBJECT)
    const privateNetworks = cidrs(env, NETWORKS)
    if (subject === undefined) {
      if (privateNetworks.length > 0) {
        refuse(NETWORKS, `is set without ${SUBJECT}`, 'both, or neither')
      }
      return undefined
    }
    if (!MAIL.test(subject) && URL.parse(subject)?.protocol !== 'https:') {
      const allowed = 'mailto:somebody@push.example, or an https address'
      refuse(SUBJECT, `is ${JSON.stringify(subject)}`, allowed)
    }
    return { subject, privateNetworks, baseUrl: publicBaseUrl(env) ?? '' }
  },
}

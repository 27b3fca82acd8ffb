// The settings of Google's push service.

import { read, refuseMissingFile } from '#src/config/setting'
import type { SettingsOf } from '#src/providers/settings-of'

export interface FcmSettings {
  readonly credentialsFile: string
}

const FILE = 'SERVICE_FCM_CREDENTIALS_FILE'

export const FCM_SETTINGS: SettingsOf<FcmSettings> = {
  names: [FILE],
  read: (env, { dispatch }) => {
    const credentialsFile = read(env, FILE)
    if (credentialsFile === undefined) return undefined
    if (dispatch) refuseMissingFile(FILE, credentialsFile)
    return { credentialsFile }
  },
}

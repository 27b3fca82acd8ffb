// Redirects connections. `node --import` loads it before anything else, with the redirects as
// query: `redirect-preload.ts?fcm.googleapis.com:443=127.0.0.1:8443`.

import { redirectConnections } from './redirect.ts'

redirectConnections(Object.fromEntries(new URL(import.meta.url).searchParams))

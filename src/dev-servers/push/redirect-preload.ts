// Loaded by `node --import` before anything else: redirects what stands in its own address, as
// `redirect-preload.ts?fcm.googleapis.com:443=127.0.0.1:8443`.

import { redirectConnections } from './redirect.ts'

redirectConnections(Object.fromEntries(new URL(import.meta.url).searchParams))

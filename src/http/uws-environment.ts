// The largest head of a request. uWebSockets.js reads it from the environment alone, once, while it
// is loaded: a file that imports the library must import this file first.

/** Its own limit is 4,096 bytes, which the longest gateway token alone would fill. */
const HEAD_BYTES_MAX = 16_384

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(HEAD_BYTES_MAX)

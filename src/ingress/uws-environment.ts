// The largest head of a request. uWebSockets.js takes it from the environment alone and
// reads it once, while it is loaded: whoever imports the library imports this file before it.

/** Its own limit is 4,096 bytes, which the longest gateway token alone would fill. */
const HEAD_BYTES_MAX = 16_384

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(HEAD_BYTES_MAX)

// Loaded before a process: its clock is ahead of the machine's by the milliseconds that the query
// says, in every thread. (test/support/gateway.ts: aheadBy)

const ms = Number(new URL(import.meta.url).searchParams.get('ms'))
const { now } = Date
Date.now = () => now() + ms

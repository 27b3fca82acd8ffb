// The version of Node that runs the gateway and the command line. Whatever an edge of the process
// imports before it has asked here must run with an older Node too.

const MAJOR_MIN = 22

/** The sentence for a person whose Node is too old; undefined for one that is new enough. */
export function nodeRefusal(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= MAJOR_MIN) return undefined
  return (
    `error: heliograph needs Node ${MAJOR_MIN} or newer, and this is ${version}; ` +
    '`npx heliograph` and `npm start` run it with the one that the package brings'
  )
}

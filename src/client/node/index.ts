// What the package exports as `heliograph/node`: the parts of the SDK that only Node can have.

export { filePositions } from './file-positions.ts'
export { tcpCarrier } from './tcp.ts'
export type { TcpOptions } from './tcp.ts'

// The exports of `heliograph/node`: the parts of the SDK that need Node.

export { filePositions } from './file-positions.ts'
export { quicCarrier } from './quic.ts'
export type { QuicOptions } from './quic.ts'
export { tcpCarrier } from './tcp.ts'
export type { TcpOptions } from './tcp.ts'

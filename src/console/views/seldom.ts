// Views that most people seldom open, which are loaded when one of them is first shown.

export { Channel } from './channel.tsx'
export { Gateway } from './gateway.tsx'
export { Inspector } from './inspector.tsx'
export { Rule } from './rule.tsx'

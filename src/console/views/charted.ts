// The views with charts, which are loaded when one of them is first shown.

export { EventPage } from './event.tsx'
export { Thing } from './thing.tsx'

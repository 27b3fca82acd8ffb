// The SDK: what the package `heliograph` exports. Every other file of this folder is internal.

export { createClient } from './client.ts'
export type { CallOptions, Client, ClientOptions } from './client.ts'
export { HeliographError } from './error.ts'
export type { ClientCode, ErrorFacts } from './error.ts'
export { WEB } from './runtime.ts'
export type { ClientRuntime } from './runtime.ts'
export { ThingsView, foldThing } from './view.ts'
export type { ThingChange, ThingView } from './view.ts'
export { watch } from './watch.ts'
export type { Watch, WatchEnd, WatchOptions, WatchState } from './watch.ts'
export type * from './bodies.ts'

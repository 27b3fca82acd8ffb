// Conditions over Things as they are sent: those of rules, and those of queries, which know more.
// (Specification: Rules and time; History and fleets, Query)

import type { ThingState } from '#domain/entity'

/** The name of an attr, or the names that lead to a value within objects. */
export type AttrPath = string | readonly string[]

type Scalar = string | number | boolean
type Range = readonly [low: number, high: number]

/** Compares a present value; one that is missing or of another type is neither. */
type AttrTest =
  | { readonly attr: AttrPath; readonly above: number }
  | { readonly attr: AttrPath; readonly below: number }
  | { readonly attr: AttrPath; readonly inside: Range }
  | { readonly attr: AttrPath; readonly outside: Range }
  | { readonly attr: AttrPath; readonly equals: Scalar }
  | { readonly attr: AttrPath; readonly not_equals: Scalar }
  | { readonly attr: AttrPath; readonly absent: true }

type ConditionWith<More> =
  | AttrTest
  /** A duration: no update was accepted for so long. */
  | { readonly silent: string }
  | { readonly cel: string }
  | { readonly all: readonly (ConditionWith<More> | More)[] }
  | { readonly any: readonly (ConditionWith<More> | More)[] }
  | { readonly not: ConditionWith<More> | More }

/** What a query asks of a Thing. */
export type Where = ConditionWith<ThingTest> | ThingTest

type ThingTest =
  | { readonly state: ThingState }
  | { readonly tag: string }
  /** How its id begins. */
  | { readonly prefix: string }
  /** A part of its title or description, without case. */
  | { readonly text: string }
  /** Latitude and longitude in degrees, and metres around them. */
  | { readonly near: readonly [latitude: number, longitude: number]; readonly within: number }

// How much a rule may hold: its reader refuses more, and its form in the OpenAPI document says so.
// Texts are counted in characters.

/** Things that a rule names. */
export const IDS_MAX = 1_000
export const LEVELS_MAX = 8
/** A title, a tag that chooses Things. */
export const TITLE_MAX = 256
/** Any other text of an Event or a Message. */
export const TEXT_MAX = 2_048
export const TAGS_MAX = 32
/** A tag of an Event or a Message. */
export const TAG_MAX = 64
export const METADATA_MAX = 64
export const METADATA_KEY_MAX = 64

/** How deep conditions stand in each other; the names that lead to a value within objects. */
export const DEPTH_MAX = 8
/** Conditions of `all` and `any`. */
export const PARTS_MAX = 32
/** The name of an attr. */
export const NAME_MAX = 256
/** An expression. */
export const EXPRESSION_MAX = 1_024

/** The tests of the value of an attr. */
export const TESTS = [
  'above',
  'below',
  'outside',
  'inside',
  'equals',
  'not_equals',
  'absent',
] as const

// Names of attrs as levels of topics, which may hold neither a slash nor a wildcard.

/** The level of a topic that stands for an attr: `Inputs/A` is `Inputs%2FA`. */
export const attrLevelOf = (name: string): string => name.replace(/[%/+#]/g, encodeURIComponent)

/** The attr that a level stands for; a percent sign that begins no escape stands for itself. */
export const attrNameOf = (level: string): string =>
  level.replace(/%(?:25|2F|2B|23)/gi, decodeURIComponent)

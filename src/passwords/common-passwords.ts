// The passwords that strangers try first.

/** The number of passwords that count as common, of those that a channel could have. */
export const COMMON_PASSWORDS = 10_000
export const COMMON_PASSWORD_RULE = 'is one of the 10,000 most common passwords'

let list: Promise<ReadonlySet<string>> | undefined

/** True for one of the most common passwords, in any case. The first call loads the list. */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= load()
  return (await list).has(password.trim().toLowerCase())
}

async function load(): Promise<ReadonlySet<string>> {
  // Only here: a process that asks for no password keeps no list in memory.
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  const byUse = dictionary['passwords-common']
  return new Set(byUse.filter(({ length }) => length >= 8).slice(0, COMMON_PASSWORDS))
}

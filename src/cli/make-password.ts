// Makes the password of a channel that its creator gave none.

const BYTES = 18

/** 144 random bits in 24 characters that need no quoting in a shell. */
export function makePassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES))
  // No hyphen in front: it would look like an option.
  return Buffer.from(bytes).toString('base64url').replace(/^[-_]/, 'x')
}

// A command for a terminal, with the variables that it needs.

import { token } from '#console/state/saved.ts'
import { SECRET_NAME, TOKEN_NAME } from '#console/state/submissions.ts'
import { t } from '#console/words/words.ts'
import { Code, Copy } from './text.tsx'

interface CommandProps {
  readonly text: string
  /** True for a command that has its secret in it. */
  readonly hasKey?: boolean
}

export const Command = ({ text, hasKey }: CommandProps) => (
  <>
    <p>
      {hasKey !== true && t('asCommandHint', { name: SECRET_NAME })}
      {token.value !== '' && ` ${t('asCommandToken', { name: TOKEN_NAME })}`}
    </p>
    <Code text={text} label={t('asCommand')} />
    <div>
      <Copy text={text} />
    </div>
  </>
)

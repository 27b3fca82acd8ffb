// A command for a terminal, with the variables that it needs.

import { token } from '#console/state/saved.ts'
import { SECRET_NAME, TOKEN_NAME } from '#console/state/submissions.ts'
import { t } from '#console/words/words.ts'
import { Copy } from './text.tsx'

export const Command = ({ text }: { readonly text: string }) => (
  <>
    <p>
      {t('asCommandHint', { name: SECRET_NAME })}
      {token.value !== '' && ` ${t('asCommandToken', { name: TOKEN_NAME })}`}
    </p>
    <pre class="command" tabIndex={0} aria-label={t('asCommand')} role="region">
      {text}
    </pre>
    <div>
      <Copy text={text} />
    </div>
  </>
)

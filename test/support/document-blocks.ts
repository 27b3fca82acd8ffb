// The blocks of code in the documents, which tests run.

import { readFileSync } from 'node:fs'

const ROOT = new URL('../../', import.meta.url)

/**
 * The blocks of a language in a section of a document, which ends at the next heading. The heading
 * is given with its marks.
 */
export function blocksOf(document: string, heading: string, language: string): readonly string[] {
  const text = readFileSync(new URL(document, ROOT), 'utf8')
  const [marks = ''] = heading.split(' ')
  const [, behind = ''] = text.split(`\n${heading}\n`)
  const [section = ''] = behind.split(new RegExp(`\\n#{2,${marks.length}} `))
  const blocks = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g')
  return [...section.matchAll(blocks)].map(([, block = '']) => block)
}

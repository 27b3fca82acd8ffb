// heliograph completion: prints the script with which a shell completes commands and options.

import { bashScript } from '#src/cli/completion/bash'
import { fishScript } from '#src/cli/completion/fish'
import { completionPointsOf } from '#src/cli/completion/completion-points'
import { zshScript } from '#src/cli/completion/zsh'
import { chosen, command } from '#src/cli/command'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }
const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion = command({
  description:
    'Prints the completion script of a shell. For bash put `source <(heliograph completion ' +
    'bash)` into ~/.bashrc, for zsh the same with zsh into ~/.zshrc behind compinit, for fish ' +
    'save the output as ~/.config/fish/completions/heliograph.fish.',
  parameters: { shell: chosen('<shell>', SHELLS) },
  options: {},
  examples: ['completion bash'],
  async run({ shell }, { program, terminal }) {
    terminal.print(SCRIPTS[shell](await completionPointsOf(program)))
  },
})

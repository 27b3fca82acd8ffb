// A view that is loaded when it is first shown: most people never open it.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

import { sentenceOf, t } from '#console/words/words.ts'

/** Makes a component of one that is loaded at its first use. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let loaded: ComponentType<Props> | undefined
  return function Later(props: Props) {
    const [, setLoaded] = useState(loaded !== undefined)
    const [failure, setFailure] = useState<unknown>()
    useEffect(() => {
      if (loaded !== undefined) return
      load().then((component) => {
        loaded = component
        setLoaded(true)
      }, setFailure)
    }, [])
    const View = loaded
    if (View !== undefined) return <View {...props} />
    return <p class="lead">{failure === undefined ? t('loading') : sentenceOf(failure)}</p>
  }
}

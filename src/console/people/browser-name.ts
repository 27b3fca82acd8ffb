// The name of this browser among keys and devices.

/** This browser, as a person would call it in a list of keys. */
export function browserName(): string {
  const agent = navigator.userAgent
  const browser =
    [/Edg/, /OPR/, /Firefox/, /Chrome/, /Safari/].find((name) => name.test(agent))?.source ??
    'Browser'
  const system =
    [/Android/, /iPhone/, /iPad/, /Windows/, /Mac OS/, /Linux/].find((name) => name.test(agent))
      ?.source ?? ''
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' }
  return `${names[browser] ?? browser} ${system}`.trim()
}

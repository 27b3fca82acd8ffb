// The rules by which the demo's channel watches its computer.

import type { RuleBody } from '#src/client/bodies'

/**
 * A load above the threshold, in percent of all processors, is high until it falls below four
 * fifths of that: a value that swings around the threshold is one Event, not many.
 */
export const demoRules = (threshold: number): Readonly<Record<string, RuleBody>> => ({
  'load-is-high': {
    things: { ids: ['host'] },
    when: { attr: 'cpu_percent', above: threshold },
    clear: { attr: 'cpu_percent', below: threshold * 0.8 },
    event: {
      title: 'load is high',
      message: '{cpu_percent} % of all processors',
      severity: 'high',
      update_every: '2s',
    },
  },
  'disk-is-full': {
    things: { prefix: 'disk:' },
    when: { attr: 'used_percent', above: 95 },
    clear: { attr: 'used_percent', below: 90 },
    event: { title: '{thing.title} is nearly full', message: '{used_percent} %' },
  },
  'computer-is-silent': {
    things: { ids: ['host'] },
    when: { silent: '10s' },
    event: { title: '{thing.title} is silent', severity: 'critical' },
  },
})

// The gateway for its operator: what it stands on, how much flows, and what needs a hand.

import { useEffect, useState } from 'preact/hooks'

import type { Readiness } from '#src/client/bodies'
import { every, nowMs } from '#console/state/clock.ts'
import { client, wantsToken } from '#console/state/gateway.ts'
import { Figures } from '#console/state/metrics.ts'
import { language } from '#console/state/saved.ts'
import { number, shown } from '#console/state/units.ts'
import { t } from '#console/words/words.ts'
import { Empty } from '#console/parts/form.tsx'
import { Card, Failure } from '#console/parts/page.tsx'

const ASK_EVERY_MS = 3_000

interface Seen {
  readonly readiness: Readiness
  readonly version: string
  readonly now: Figures
  readonly before: Figures | undefined
}

async function ask(before: Figures | undefined): Promise<Seen> {
  const asked = client.peek()
  const [readiness, profile, text] = await Promise.all([
    asked.readiness(),
    asked.profile(),
    asked.metrics(),
  ])
  const now = new Figures(text, nowMs())
  const { version } = profile
  return { readiness, version: typeof version === 'string' ? version : '', now, before }
}

export function Gateway() {
  const [seen, setSeen] = useState<Seen>()
  const [failure, setFailure] = useState<unknown>()
  useEffect(() => {
    let last: Figures | undefined
    let isAsking = false
    const look = async (): Promise<void> => {
      if (isAsking || document.visibilityState !== 'visible') return
      isAsking = true
      try {
        const found = await ask(last)
        last = found.now
        setSeen(found)
        setFailure(undefined)
      } catch (error) {
        setFailure(error)
      } finally {
        isAsking = false
      }
    }
    void look()
    return every(ASK_EVERY_MS, () => void look())
  }, [])
  return (
    <div class="gateway">
      <header class="view">
        <h1>{t('gateway')}</h1>
        {seen !== undefined && (
          <p class="sum">
            <span class={seen.readiness.status === 'ok' ? 'good' : 'bad'}>
              {t(seen.readiness.status === 'ok' ? 'ready' : 'notReady')}
            </span>
            <span>{t('version', { version: seen.version })}</span>
          </p>
        )}
      </header>
      {failure !== undefined && <Failed error={failure} />}
      {seen === undefined && failure === undefined && <p class="lead">{t('loading')}</p>}
      {seen !== undefined && !wantsToken(failure) && <Operation seen={seen} />}
    </div>
  )
}

const Failed = ({ error }: { readonly error: unknown }) =>
  wantsToken(error) ? (
    <Empty title={t('wantsToken')} text={t('gatewayToken')}>
      <a class="button" href="#/start">
        {t('enterToken')}
      </a>
    </Empty>
  ) : (
    <Failure error={error} />
  )

function Operation({ seen }: { readonly seen: Seen }) {
  const { now, before, readiness } = seen
  const rate = (name: string): string => {
    const found = now.rate(name, before)
    return found === undefined ? '–' : t('perSecond', { n: number(found, language.value) })
  }
  const sum = (name: string): string => number(now.sum(name) ?? 0, language.value)
  const latency = now.quantile('accept_seconds', 0.99, before)
  const memory = shown('bytes', now.sum('process_resident_memory_bytes') ?? 0, language.value)
  return (
    <>
      <h2 class="unseen">{t('rates')}</h2>
      <dl class="figures">
        <Figure label={t('accepted')} text={rate('accepted_total')} />
        <Figure label={t('delivered')} text={rate('deliveries_total')} />
        <Figure label={t('latency')} text={latencyText(latency)} />
        <Figure label={t('sessions')} text={sum('sessions')} />
        <Figure label={t('memory')} text={`${memory.text} ${memory.unit}`} />
        <Figure label={t('unapplied')} text={sum('unapplied_submissions')} />
        <Figure
          label={t('refusedChannels')}
          text={sum('refused_channels')}
          isGrave={!!now.sum('refused_channels')}
        />
        <Figure
          label={t('deadLetters')}
          text={sum('dead_letters_total')}
          isGrave={!!now.sum('dead_letters_total')}
        />
        {now.sum('leases_held') !== undefined && (
          <Figure label={t('lanes')} text={sum('leases_held')} />
        )}
      </dl>
      <div class="columns">
        <Parts readiness={readiness} />
        <Providers figures={now} />
        <Refusals figures={now} />
      </div>
    </>
  )
}

const latencyText = (seconds: number | undefined): string => {
  if (seconds === undefined) return '–'
  return Number.isFinite(seconds) ? `≤ ${number(seconds * 1_000, language.value)} ms` : '> 10 s'
}

interface FigureProps {
  readonly label: string
  readonly text: string
  readonly isGrave?: boolean
}

const Figure = ({ label, text, isGrave }: FigureProps) => (
  <div class={isGrave === true ? 'figure grave' : 'figure'}>
    <dt class="of">{label}</dt>
    <dd>
      <strong>{text}</strong>
    </dd>
  </div>
)

const Parts = ({ readiness }: { readonly readiness: Readiness }) => (
  <Card title={t('parts')}>
    <dl class="facts">
      {readiness.dependencies.map(({ name, ready, detail }) => (
        <>
          <dt>{name}</dt>
          <dd>
            <span class={ready ? 'good' : 'bad'}>{t(ready ? 'ready' : 'notReady')}</span> {detail}
          </dd>
        </>
      ))}
    </dl>
    <p class="hint">{t('durability', { text: readiness.durability })}</p>
  </Card>
)

function Providers({ figures }: { readonly figures: Figures }) {
  const valueOf = (name: string, provider: string): number =>
    figures.of(name).find(({ labels }) => labels['provider'] === provider)?.value ?? 0
  const providers = figures.of('push_concurrency').map(({ labels }) => labels['provider'] ?? '')
  const stateOf = (provider: string): readonly [isGood: boolean, text: string] => {
    if (valueOf('push_credentials_refused', provider) > 0) return [false, t('credentialsRefused')]
    if (valueOf('push_circuit_open', provider) > 0) return [false, t('circuitOpen')]
    return [true, t('circuitClosed')]
  }
  return (
    <Card title={t('providers')}>
      {providers.length === 0 ? (
        <p>{t('noProviders')}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{t('provider')}</th>
              <th scope="col">{t('waitingPushes')}</th>
              <th scope="col">{t('inFlight')}</th>
              <th scope="col">{t('circuit')}</th>
            </tr>
          </thead>
          <tbody>
            {providers.map((provider) => {
              const [isGood, text] = stateOf(provider)
              return (
                <tr key={provider}>
                  <th scope="row">{provider}</th>
                  <td>{valueOf('push_jobs', provider)}</td>
                  <td>{valueOf('push_in_flight', provider)}</td>
                  <td class={isGood ? 'good' : 'bad'}>{text}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </Card>
  )
}

function Refusals({ figures }: { readonly figures: Figures }) {
  const refused = figures.of('refused_total').filter(({ value }) => value > 0)
  return (
    <Card title={t('refusals')}>
      {refused.length === 0 ? (
        <p>{t('noRefusals')}</p>
      ) : (
        <dl class="facts">
          {refused
            .toSorted((a, b) => b.value - a.value)
            .map(({ labels, value }) => (
              <>
                <dt>
                  <code>{labels['code']}</code>
                </dt>
                <dd>{number(value, language.value)}</dd>
              </>
            ))}
        </dl>
      )}
    </Card>
  )
}

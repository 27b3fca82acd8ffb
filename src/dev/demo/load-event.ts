// Raises the Event `load is high`, updates it while the load lasts, and closes it after.

import type { Client } from '#src/client/client'
import type { Credentials } from '#src/cli/access'
import type { Sender } from './sender.ts'

export type Alarm = { readonly kind: 'quiet' } | { readonly kind: 'raised'; readonly peak: number }

export const QUIET: Alarm = { kind: 'quiet' }

/**
 * A value above the threshold raises the alarm, and only one below four fifths of it ends the
 * alarm: a value that swings around the threshold is one alarm, not many.
 */
export function nextAlarm(alarm: Alarm, value: number, threshold: number): Alarm {
  if (alarm.kind === 'quiet') return value > threshold ? { kind: 'raised', peak: value } : alarm
  if (value < threshold * 0.8) return QUIET
  return { kind: 'raised', peak: Math.max(alarm.peak, value) }
}

export interface LoadEventPorts {
  readonly client: Pick<Client, 'event'>
  readonly credentials: Credentials
  readonly sender: Sender
  readonly nowMs: () => number
  /** Percent of all processors. */
  readonly threshold: number
}

export class LoadEvent {
  readonly #ports: LoadEventPorts
  #alarm: Alarm = QUIET
  #eventId: string | undefined
  #lastPercent: number | undefined

  constructor(ports: LoadEventPorts) {
    this.#ports = ports
  }

  /** Takes the newest reading. The next one repeats a submission that failed. */
  async observe(cpuPercent: number): Promise<void> {
    this.#alarm = nextAlarm(this.#alarm, cpuPercent, this.#ports.threshold)
    if (this.#alarm.kind === 'quiet') await this.close()
    else if (this.#eventId === undefined) await this.#create(cpuPercent)
    // The gateway would deliver nothing for the same value.
    else if (cpuPercent !== this.#lastPercent) {
      await this.#update(this.#eventId, { cpuPercent, peak: this.#alarm.peak })
    }
  }

  /** Closes the event if there is one. */
  async close(): Promise<void> {
    const { client, credentials, sender, nowMs } = this.#ports
    if (this.#eventId === undefined) return
    const body = {
      ...credentials,
      event_id: this.#eventId,
      event_time: nowMs(),
      ended_at: nowMs(),
      status: 'over',
    }
    const closed = await sender.send(() => client.event.close(body))
    if (closed !== undefined) this.#eventId = undefined
  }

  async #create(cpuPercent: number): Promise<void> {
    const { client, credentials, sender, nowMs } = this.#ports
    const body = {
      ...credentials,
      event_time: nowMs(),
      started_at: nowMs(),
      title: 'load is high',
      status: 'ongoing',
      severity: 'high',
      thing_id: 'host',
      attrs: { cpu_percent: cpuPercent, peak_percent: cpuPercent },
    }
    const created = await sender.send(() => client.event.create(body))
    this.#eventId = created?.event_id
    this.#lastPercent = cpuPercent
  }

  async #update(
    eventId: string,
    { cpuPercent, peak }: { readonly cpuPercent: number; readonly peak: number },
  ): Promise<void> {
    const { client, credentials, sender, nowMs } = this.#ports
    const body = {
      ...credentials,
      event_id: eventId,
      event_time: nowMs(),
      attrs: { cpu_percent: cpuPercent, peak_percent: peak },
    }
    await sender.send(() => client.event.update(body))
    this.#lastPercent = cpuPercent
  }
}

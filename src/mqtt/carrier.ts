// The ports of a carrier of MQTT: TCP and WebSocket behind one type.

/** Where MQTT comes over WebSocket, beside the other paths of the HTTP listener. */
export const MQTT_PATH = '/mqtt'

export interface MqttCarrier {
  /** The address from which the client connects. */
  readonly address: string
  /** Sends bytes; returns those that it still holds, or `closed`. */
  send(bytes: Buffer): number | 'closed'
  /** Stops or goes on with reading. */
  setReading(isOn: boolean): void
  /** Sends what it holds and closes. */
  close(): void
  /** Closes at once; what it holds is lost. */
  cut(): void
}

/** The signals of a carrier. None follows `closed`. */
export interface CarrierHandle {
  receive(bytes: Buffer): void
  /** The carrier has sent a part of what it held and holds so many bytes. */
  drained(bytes: number): void
  closed(): void
}

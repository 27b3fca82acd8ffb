// Payloads of Sparkplug B in tests, written by the library's own encoder with the numbers of the
// public specification.

import { create, createFileRegistry, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'

const TYPES = {
  double: 1,
  float: 2,
  uint64: 4,
  bool: 8,
  string: 9,
  message: 11,
  bytes: 12,
  uint32: 13,
}

const field = (name: string, number: number, type: keyof typeof TYPES, more: object = {}) => ({
  name,
  number,
  type: TYPES[type],
  label: 1,
  ...more,
})
const VALUE = { oneofIndex: 0 }
const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: 'sparkplug.proto',
    package: 'test',
    syntax: 'proto2',
    messageType: [
      {
        name: 'Metric',
        oneofDecl: [{ name: 'value' }],
        field: [
          field('name', 1, 'string'),
          field('alias', 2, 'uint64'),
          field('timestamp', 3, 'uint64'),
          field('datatype', 4, 'uint32'),
          field('is_historical', 5, 'bool'),
          field('is_transient', 6, 'bool'),
          field('is_null', 7, 'bool'),
          field('properties', 9, 'message', { typeName: '.test.PropertySet' }),
          field('int_value', 10, 'uint32', VALUE),
          field('long_value', 11, 'uint64', VALUE),
          field('float_value', 12, 'float', VALUE),
          field('double_value', 13, 'double', VALUE),
          field('boolean_value', 14, 'bool', VALUE),
          field('string_value', 15, 'string', VALUE),
          field('bytes_value', 16, 'bytes', VALUE),
        ],
      },
      {
        name: 'PropertySet',
        field: [
          field('keys', 1, 'string', { label: 3 }),
          field('values', 2, 'message', { label: 3, typeName: '.test.PropertyValue' }),
        ],
      },
      {
        name: 'PropertyValue',
        field: [field('type', 1, 'uint32'), field('string_value', 8, 'string')],
      },
      {
        name: 'Payload',
        field: [
          field('timestamp', 1, 'uint64'),
          field('metrics', 2, 'message', { label: 3, typeName: '.test.Metric' }),
          field('seq', 3, 'uint64'),
          field('uuid', 4, 'string'),
          field('body', 5, 'bytes'),
        ],
      },
    ],
  }),
  () => undefined,
)

const PAYLOAD = registry.getMessage('test.Payload')
const METRIC = registry.getMessage('test.Metric')

export interface SentMetric {
  readonly name?: string
  readonly alias?: bigint
  readonly timestamp?: bigint
  readonly datatype?: number
  readonly isHistorical?: boolean
  readonly isNull?: boolean
  readonly properties?: {
    readonly keys: readonly string[]
    readonly values: readonly { readonly type: number; readonly stringValue: string }[]
  }
  readonly value?: { readonly case: string; readonly value: unknown }
}

/** The bytes of a payload. */
export function sparkplugBytes(payload: {
  readonly timestamp?: bigint
  readonly seq?: bigint
  readonly metrics?: readonly SentMetric[]
}): Uint8Array {
  if (PAYLOAD === undefined || METRIC === undefined) throw new Error('a message is missing')
  const metrics = (payload.metrics ?? []).map((metric) => create(METRIC, { ...metric }))
  return toBinary(PAYLOAD, create(PAYLOAD, { ...payload, metrics }))
}

/** A birth that a gateway takes, by which its node takes 2 MiB of memory. */
export const largeBirth = (): Uint8Array =>
  sparkplugBytes({
    seq: 0n,
    // Without a value a metric is no attr.
    metrics: Array.from({ length: 9_000 }, (_, index) => ({
      name: `m${index}`,
      alias: BigInt(index),
      datatype: 3,
    })),
  })

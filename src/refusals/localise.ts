// The sentences of faults in the languages the gateway speaks. (decisions.md 2)

import { FAULTS } from '#domain/fault'
import type { FaultCode } from '#domain/fault'

export type Locale = 'en' | 'zh-CN'

const CHINESE: Record<FaultCode, string> = {
  authentication_failed: '网关令牌缺失或错误',
  access_token_invalid: '需要本网关签发的访问令牌',
  insufficient_scope: '访问令牌不允许此操作',
  origin_not_allowed: 'Host 或 Origin 请求头指向另一个站点',
  rate_limited: '请求过多，请稍后再试',
  route_not_found: '没有这个接口',
  method_not_allowed: '该接口不支持此请求方法',
  body_too_large: '请求体超过该接口的上限',
  request_timeout: '请求体未能及时到达',
  missing_json_content_type: '请求必须携带 Content-Type: application/json',
  invalid_json_syntax: '请求体不是有效的 UTF-8 JSON',
  unsupported_media_type: '该接口不接受此 Content-Type 的请求体',
  malformed_body: '请求体与其 Content-Type 不符',
  invalid_json_data: '字段类型错误',
  validation_failed: '字段的值无效',
  channel_id_required: '必须提供 channel_id',
  password_required: '必须提供 password',
  title_required: 'title 不能为空',
  occurred_at_required_for_thing_scoped_message: '提供 thing_id 时必须提供 occurred_at',
  event_time_required: '必须提供 event_time',
  observed_at_required: '必须提供 observed_at',
  event_id_required: '必须提供 event_id',
  thing_id_required: '必须提供 thing_id',
  event_id_forbidden_on_create: '创建时不能提供 event_id，由网关生成',
  thing_id_forbidden_on_create: '创建时不能提供 thing_id，由网关生成',
  message_id_forbidden: '不能提供 message_id，由网关生成',
  op_id_not_allowed: '此处不能提供 op_id，由网关生成',
  thing_id_mismatch: '路径与请求体中的 thing_id 不一致',
  state_forbidden: '不能提供 state，由接口决定',
  ended_at_forbidden: '只有关闭时才能提供 ended_at',
  deleted_at_forbidden: '只有删除时才能提供 deleted_at',
  invalid_timestamp: '时间必须是 Unix 秒或毫秒，不能为负，且早于公元 10000 年',
  invalid_channel_id: 'channel_id 不是表示 128 位的 26 个 Crockford Base32 字符',
  invalid_password: '密码去除首尾空白后必须为 8 到 128 字节',
  invalid_channel_name: 'channel_name 必须为 1 到 128 个字符，且不含控制字符',
  channel_binding_invalid: 'channel_id 与 channel_name 必须且只能提供一个',
  channels_limit_exceeded: '一次最多同步 2000 个频道',
  channel_not_found: '频道不存在或凭据不匹配',
  channel_subscriber_limit_exceeded: '频道已达到 32 个订阅者的上限',
  key_expired: '密钥已过期',
  key_scope: '密钥不允许此操作',
  channel_keys_limit_exceeded: '频道已达到 100000 个密钥的上限',
  channel_key_not_found: '该频道没有这个密钥',
  dead_letter_not_found: '没有该编号的死信',
  dead_letter_unreadable: '该死信不是此版本可读取的提交',
  rule_not_found: '该频道没有这条规则',
  rules_limit_exceeded: '频道规则已达上限：1000 条，合计 16 MiB',
  message_already_sent: '消息已不再等待发送，无法取消',
  scheduled_messages_limit_exceeded: '频道已达到 10000 条定时消息的上限',
  series_limit_exceeded: '序列超过 50000 条，请用 ?prefix= 或 ?attr= 缩小范围',
  series_incomplete: '部分序列数据量过大，暂时无法读取，请稍后再导出',
  bind_session_not_found: '没有这个绑定会话',
  invalid_platform: '未知的平台',
  invalid_channel_type: '未知的 channel_type',
  channel_type_mismatch: '设备的 channel_type 与此不同',
  provider_token_required: '此 channel_type 需要 provider_token',
  provider_token_forbidden_for_private_channel: 'private 设备没有 provider_token',
  invalid_provider_token: 'provider_token 格式无效',
  apns_channel_requires_apple_platform: 'channel_type 为 apns 时需要 Apple 平台',
  fcm_channel_requires_android_platform: 'channel_type 为 fcm 时平台必须是 android',
  device_key_not_found: 'device_key 未注册',
  entity_not_found: '该频道中没有这个 thing 或 event',
  invalid_cursor: 'cursor 不是由本网关生成的',
  delivery_id_invalid: '某个 delivery_id 不是由本网关生成的',
  delivery_ack_batch_invalid: '请提供 1 到 200 个 delivery_id',
  op_id_payload_conflict: 'op_id 已用于内容不同的消息',
  op_id_scope_conflict: 'op_id 已用于其他范围',
  send_status_not_found: '没有这个操作，或其记录已过期',
  submission_not_accepted: '提交未被接受，请重试',
  submission_outcome_unknown: '日志未应答，提交可能已被接受，也可能未被接受',
  server_busy: '网关繁忙，请重试',
  internal_error: '网关内部错误，请重试',
  websocket_upgrade_required: '此接口是 WebSocket，请发送升级请求',
  missing_websocket_subprotocol: '必须使用 WebSocket 子协议 heliograph.v1',
  event_closed: '事件已关闭',
  thing_deleted: '物件已删除',
  attrs_too_large: 'attrs 将超过 65536 字节',
  entity_too_large: '实体的字段或 external_ids 将超过上限',
  push_failed: '没有设备从推送服务收到推送',
}

const SENTENCES: Record<Locale, Record<FaultCode, string>> = { en: FAULTS, 'zh-CN': CHINESE }

/** The sentence of a fault in a language. */
export const sentenceOf = (code: FaultCode, locale: Locale): string => SENTENCES[locale][code]

const HEADER_CHARACTERS_MAX = 1_000

/**
 * The language that an Accept-Language header (RFC 9110, 12.5.4) prefers; English when it asks for
 * neither.
 */
export function localeOf(acceptLanguage: string): Locale {
  if (acceptLanguage === '') return 'en'
  let best: { locale: Locale; quality: number } = { locale: 'en', quality: 0 }
  for (const range of acceptLanguage.slice(0, HEADER_CHARACTERS_MAX).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
    const locale = localeOfTag(tag.toLowerCase())
    const quality = qualityOf(parameters)
    // The first of equals wins: a browser lists its languages in the order of preference.
    if (locale !== undefined && quality > best.quality) best = { locale, quality }
  }
  return best.locale
}

function localeOfTag(tag: string): Locale | undefined {
  if (tag === '*' || tag === 'en' || tag.startsWith('en-')) return 'en'
  if (tag === 'zh' || tag.startsWith('zh-')) return 'zh-CN'
  return undefined
}

function qualityOf(parameters: readonly string[]): number {
  const text = parameters.find((parameter) => /^q\s*=/i.test(parameter))
  if (text === undefined) return 1
  const quality = Number(text.slice(text.indexOf('=') + 1))
  return quality >= 0 && quality <= 1 ? quality : 0
}

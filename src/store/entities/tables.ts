import type { ColumnTypes } from '#src/store/dialect'
import {
  authorizationRecordEntity,
  authorizationSecretEntity,
  bindSessionEntity,
  bindingEntity,
} from './authorization.ts'
import {
  channelEntity,
  channelHeadEntity,
  channelHooksEntity,
  channelKeyEntity,
  channelMappingsEntity,
  channelPresentationEntity,
  hookEpisodeEntity,
} from './channels.ts'
import { deviceEntity, subscriptionEntity } from './devices.ts'
import { eventEntity, thingEntity, tombstoneEntity } from './entities.ts'
import { feedEntryEntity, updateBlockEntity, updatePlaceEntity } from './feed.ts'
import {
  deadLetterEntity,
  gatewayFactEntity,
  laneEntity,
  leaseHolderEntity,
  logBatchEntity,
} from './lanes.ts'
import { mqttExchangeEntity, mqttSessionEntity } from './mqtt-sessions.ts'
import { claimEntity, operationBatchEntity, operationEntity } from './operations.ts'
import { ruleEntity, scheduledEntity, watchEntity } from './rules.ts'
import { tierChunkEntity, tierCutEntity } from './tiers.ts'
import { pushJobEntity, pushTallyEntity } from './pushes.ts'

/** Every table, with the column types of one engine. */
export const tablesFor = (types: ColumnTypes) => ({
  gatewayFacts: gatewayFactEntity(types),
  lanes: laneEntity(types),
  leaseHolders: leaseHolderEntity(types),
  logBatches: logBatchEntity(types),
  deadLetters: deadLetterEntity(types),
  channels: channelEntity(types),
  channelHeads: channelHeadEntity(types),
  channelKeys: channelKeyEntity(types),
  channelMappings: channelMappingsEntity(types),
  channelPresentations: channelPresentationEntity(types),
  channelHooks: channelHooksEntity(types),
  hookEpisodes: hookEpisodeEntity(types),
  devices: deviceEntity(types),
  subscriptions: subscriptionEntity(types),
  mqttSessions: mqttSessionEntity(types),
  mqttExchanges: mqttExchangeEntity(types),
  things: thingEntity(types),
  events: eventEntity(types),
  tombstones: tombstoneEntity(types),
  feedEntries: feedEntryEntity(types),
  updateBlocks: updateBlockEntity(types),
  updatePlaces: updatePlaceEntity(types),
  tierChunks: tierChunkEntity(types),
  tierCuts: tierCutEntity(types),
  operations: operationEntity(types),
  operationBatches: operationBatchEntity(types),
  claims: claimEntity(types),
  rules: ruleEntity(types),
  watches: watchEntity(types),
  scheduled: scheduledEntity(types),
  pushJobs: pushJobEntity(types),
  pushTallies: pushTallyEntity(types),
  authorizationRecords: authorizationRecordEntity(types),
  authorizationSecrets: authorizationSecretEntity(types),
  bindings: bindingEntity(types),
  bindSessions: bindSessionEntity(types),
})

export type Tables = ReturnType<typeof tablesFor>

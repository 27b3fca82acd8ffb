CREATE TABLE `authorization_records` (
  `model` varchar(40) NOT NULL,
  `id_hash` varchar(64) NOT NULL,
  `grant_id` varchar(64) NOT NULL,
  `uid` varchar(64) NOT NULL,
  `payload` mediumtext NOT NULL,
  `consumed_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  PRIMARY KEY (`model`,`id_hash`),
  KEY `authorization_records_by_grant` (`grant_id`),
  KEY `authorization_records_by_uid` (`uid`),
  KEY `authorization_records_by_end` (`expires_at`),
  KEY `authorization_records_by_kind` (`model`,`expires_at`,`id_hash`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `authorization_secrets` (
  `purpose` varchar(40) NOT NULL,
  `period` bigint(20) NOT NULL,
  `secret` mediumtext NOT NULL,
  PRIMARY KEY (`purpose`,`period`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `bindings` (
  `grant_id` varchar(64) NOT NULL,
  `channel` bigint(20) NOT NULL,
  `password_hash` varchar(255) NOT NULL,
  `client_name` varchar(512) NOT NULL,
  `bound_at` bigint(20) NOT NULL,
  `client` varchar(64) NOT NULL DEFAULT '',
  `browser` varchar(64) NOT NULL DEFAULT '',
  PRIMARY KEY (`grant_id`,`channel`),
  KEY `bindings_by_channel` (`channel`,`grant_id`),
  KEY `bindings_by_browser` (`browser`,`client`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `bind_sessions` (
  `bind_session` varchar(32) NOT NULL,
  `secret_hash` varchar(64) NOT NULL,
  `grant_id` varchar(64) NOT NULL,
  `client_name` varchar(512) NOT NULL,
  `channel` bigint(20) NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  `client` varchar(64) NOT NULL DEFAULT '',
  `browser` varchar(64) NOT NULL DEFAULT '',
  PRIMARY KEY (`bind_session`),
  UNIQUE KEY `bind_sessions_by_secret` (`secret_hash`),
  KEY `bind_sessions_by_end` (`expires_at`),
  KEY `bind_sessions_by_grant` (`grant_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `channels` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `channel_id` varchar(26) NOT NULL,
  `name` varchar(512) NOT NULL,
  `password_hash` varchar(255) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `is_deleted` bigint(20) NOT NULL DEFAULT 0,
  `used_at` bigint(20) NOT NULL DEFAULT 0,
  `used_seq` bigint(20) NOT NULL DEFAULT 0,
  `keys_hash` varchar(255) NOT NULL DEFAULT '',
  `keys_epoch` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `channels_by_channel_id` (`channel_id`),
  KEY `channels_by_is_deleted` (`is_deleted`),
  KEY `channels_by_used_at` (`is_deleted`,`used_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `channel_heads` (
  `channel` bigint(20) NOT NULL,
  `head_seq` bigint(20) NOT NULL,
  `things` bigint(20) NOT NULL,
  `open_events` bigint(20) NOT NULL,
  `entries_floor` bigint(20) NOT NULL DEFAULT 0,
  `tombstone_floor` bigint(20) NOT NULL DEFAULT 0,
  `has_provider_routes` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`channel`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `channel_keys` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `key_hash` varchar(64) NOT NULL,
  `channel` bigint(20) NOT NULL,
  `password_hash` varchar(255) DEFAULT NULL,
  `key_id` varchar(32) NOT NULL,
  `label` varchar(512) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `epoch` bigint(20) NOT NULL DEFAULT 0,
  `scopes` varchar(64) NOT NULL DEFAULT 'send read',
  `thing_prefix` varchar(128) NOT NULL DEFAULT '',
  `expires_at` bigint(20) NOT NULL DEFAULT 0,
  `last_used_on` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `channel_keys_by_hash` (`key_hash`),
  KEY `channel_keys_by_channel` (`channel`,`key_id`),
  KEY `channel_keys_by_age` (`channel`,`id`),
  KEY `channel_keys_by_epoch` (`channel`,`epoch`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `channel_mappings` (
  `channel` bigint(20) NOT NULL,
  `mappings` mediumtext NOT NULL,
  `unmapped` mediumtext NOT NULL,
  PRIMARY KEY (`channel`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `claims` (
  `op_id` varchar(128) NOT NULL,
  `channel_id` varchar(26) NOT NULL,
  `thing_id` varchar(64) NOT NULL,
  `content_hash` varchar(64) NOT NULL,
  `message_id` varchar(64) NOT NULL,
  `claimed_at` bigint(20) NOT NULL,
  PRIMARY KEY (`op_id`),
  KEY `claims_by_claimed_at` (`claimed_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `dead_letters` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `lane` bigint(20) NOT NULL,
  `position` bigint(20) NOT NULL,
  `item` bigint(20) NOT NULL,
  `payload` mediumtext NOT NULL,
  `error` mediumtext NOT NULL,
  `at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `devices` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `device_id` varchar(64) NOT NULL,
  `platform` varchar(16) NOT NULL,
  `channel_type` varchar(16) NOT NULL,
  `provider_token` varchar(4096) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `sessions` bigint(20) NOT NULL DEFAULT 0,
  `seen_at` bigint(20) DEFAULT NULL,
  `route_revision` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `devices_by_device_id` (`device_id`),
  KEY `devices_by_provider_token` (`provider_token`(191),`platform`),
  KEY `devices_by_seen_at` (`seen_at`,`created_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `events` (
  `channel` bigint(20) NOT NULL,
  `id` varchar(64) NOT NULL,
  `state` varchar(16) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `thing_id` varchar(64) DEFAULT NULL,
  `document` mediumtext NOT NULL,
  `seq_block` bigint(20) GENERATED ALWAYS AS (`seq` DIV 128) STORED,
  PRIMARY KEY (`channel`,`id`),
  KEY `events_by_block` (`channel`,`seq_block`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `feed_entries` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `channel` bigint(20) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `model` varchar(16) NOT NULL,
  `action` varchar(16) NOT NULL,
  `entity_id` varchar(64) NOT NULL,
  `op_id` varchar(128) NOT NULL,
  `state` varchar(16) DEFAULT NULL,
  `rev` bigint(20) DEFAULT NULL,
  `accepted_at` bigint(20) NOT NULL,
  `payload` mediumtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `feed_entries_by_seq` (`channel`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `gateway_meta` (
  `name` varchar(64) NOT NULL,
  `value` varchar(255) NOT NULL,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `lanes` (
  `lane` bigint(20) NOT NULL,
  `epoch` bigint(20) NOT NULL,
  `place` bigint(20) NOT NULL,
  PRIMARY KEY (`lane`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `log_batches` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `lane` bigint(20) NOT NULL,
  `submissions` bigint(20) NOT NULL,
  `size` bigint(20) NOT NULL,
  `appended_at` bigint(20) NOT NULL,
  `payload` mediumtext NOT NULL,
  PRIMARY KEY (`id`),
  KEY `log_batches_by_lane` (`lane`,`id`,`submissions`,`size`,`appended_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `migrations` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `timestamp` bigint(20) NOT NULL,
  `name` varchar(255) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
CREATE TABLE `mqtt_exchanges` (
  `device` bigint(20) NOT NULL,
  `slot` bigint(20) NOT NULL,
  `packet_id` bigint(20) NOT NULL,
  `op_id` varchar(128) NOT NULL,
  `digest` varchar(32) NOT NULL,
  `qos` bigint(20) NOT NULL,
  PRIMARY KEY (`device`,`slot`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `mqtt_sessions` (
  `device` bigint(20) NOT NULL,
  `channel` bigint(20) NOT NULL,
  `subscriptions` mediumtext NOT NULL,
  `expires_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`device`),
  KEY `mqtt_sessions_by_channel` (`channel`),
  KEY `mqtt_sessions_by_end` (`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `operations` (
  `op_id` varchar(128) NOT NULL,
  `channel_id` varchar(26) NOT NULL,
  `model` varchar(16) NOT NULL,
  `entity_id` varchar(64) NOT NULL,
  `status` varchar(16) NOT NULL,
  `accepted_at` bigint(20) NOT NULL,
  `updated_at` bigint(20) NOT NULL,
  `error_code` varchar(64) DEFAULT NULL,
  PRIMARY KEY (`op_id`),
  KEY `operations_by_accepted_at` (`accepted_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `operation_batches` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `first_op` varchar(46) NOT NULL,
  `last_at` bigint(20) NOT NULL,
  `operations` bigint(20) NOT NULL,
  `content` mediumblob NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `operation_batches_by_op` (`first_op`,`last_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `parked_submissions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `channel_id` varchar(26) NOT NULL,
  `lane` bigint(20) NOT NULL,
  `position` bigint(20) NOT NULL,
  `item` bigint(20) NOT NULL,
  `payload` mediumtext NOT NULL,
  `error` mediumtext NOT NULL,
  PRIMARY KEY (`id`),
  KEY `parked_submissions_by_channel` (`channel_id`,`id`),
  KEY `parked_submissions_by_lane` (`lane`,`channel_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `push_jobs` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `provider` varchar(16) NOT NULL,
  `device` bigint(20) NOT NULL,
  `route_revision` bigint(20) NOT NULL,
  `channel` bigint(20) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `op_id` varchar(128) NOT NULL,
  `thing` varchar(64) DEFAULT NULL,
  `state` varchar(16) NOT NULL,
  `queued_at` bigint(20) NOT NULL,
  `due_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  `attempts` bigint(20) NOT NULL,
  `claim` varchar(64) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `push_jobs_by_due` (`provider`,`due_at`),
  KEY `push_jobs_by_device` (`device`,`state`),
  KEY `push_jobs_by_thing` (`device`,`channel`,`thing`),
  KEY `push_jobs_by_operation` (`op_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `push_tallies` (
  `op_id` varchar(128) NOT NULL,
  `served` bigint(20) NOT NULL,
  `failed` bigint(20) NOT NULL,
  PRIMARY KEY (`op_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `rules` (
  `channel` bigint(20) NOT NULL,
  `id` varchar(64) NOT NULL,
  `version` varchar(128) NOT NULL,
  `since` bigint(20) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `updated_at` bigint(20) NOT NULL,
  `document` mediumtext NOT NULL,
  `failures` bigint(20) NOT NULL DEFAULT 0,
  `last_failure` varchar(256) NOT NULL DEFAULT '',
  PRIMARY KEY (`channel`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `scheduled_messages` (
  `channel` bigint(20) NOT NULL,
  `op_id` varchar(128) NOT NULL,
  `lane` bigint(20) NOT NULL,
  `due` bigint(20) NOT NULL,
  `message_id` varchar(32) NOT NULL,
  `document` mediumtext NOT NULL,
  PRIMARY KEY (`channel`,`op_id`),
  KEY `scheduled_messages_by_due` (`lane`,`due`,`op_id`,`channel`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `subscriptions` (
  `channel` bigint(20) NOT NULL,
  `device` bigint(20) NOT NULL,
  `since_seq` bigint(20) NOT NULL,
  `acked_seq` bigint(20) NOT NULL,
  `acked_ahead` mediumtext NOT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`channel`,`device`),
  KEY `subscriptions_by_device` (`device`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `things` (
  `channel` bigint(20) NOT NULL,
  `id` varchar(64) NOT NULL,
  `state` varchar(16) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `op_id` varchar(128) DEFAULT NULL,
  `document` mediumtext NOT NULL,
  `seq_block` bigint(20) GENERATED ALWAYS AS (`seq` DIV 128) STORED,
  PRIMARY KEY (`channel`,`id`),
  KEY `things_by_block` (`channel`,`seq_block`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `thing_updates` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `channel` bigint(20) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `model` varchar(16) NOT NULL,
  `action` varchar(16) NOT NULL,
  `entity_id` varchar(64) NOT NULL,
  `op_id` varchar(128) NOT NULL,
  `state` varchar(16) DEFAULT NULL,
  `rev` bigint(20) DEFAULT NULL,
  `accepted_at` bigint(20) NOT NULL,
  `payload` mediumtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `thing_updates_by_seq` (`channel`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `tombstones` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `channel` bigint(20) NOT NULL,
  `model` varchar(16) NOT NULL,
  `entity_id` varchar(64) NOT NULL,
  `seq` bigint(20) NOT NULL,
  `ended_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `update_blocks` (
  `id` bigint(20) NOT NULL,
  `last_at` bigint(20) NOT NULL,
  `entries` bigint(20) NOT NULL,
  `places` bigint(20) NOT NULL,
  `content` mediumblob NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `update_places` (
  `channel` bigint(20) NOT NULL,
  `last_seq` bigint(20) NOT NULL,
  `last_at` bigint(20) NOT NULL,
  `block` bigint(20) NOT NULL,
  PRIMARY KEY (`channel`,`last_seq`),
  KEY `update_places_by_block` (`block`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `watches` (
  `channel` bigint(20) NOT NULL,
  `rule_id` varchar(64) NOT NULL,
  `thing_id` varchar(64) NOT NULL,
  `lane` bigint(20) NOT NULL,
  `due` bigint(20) DEFAULT NULL,
  `document` mediumtext NOT NULL,
  PRIMARY KEY (`channel`,`rule_id`,`thing_id`),
  KEY `watches_by_thing` (`channel`,`thing_id`),
  KEY `watches_by_due` (`lane`,`due`,`rule_id`,`thing_id`,`channel`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

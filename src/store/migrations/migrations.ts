import { Tables1766000000000 } from './1-tables.ts'
import { Spans1795000000000 } from './2-spans.ts'
import { Blocks1795200000000 } from './3-blocks.ts'
import { SessionNumbers1795400000000 } from './4-session-numbers.ts'
import { LastUse1796000000000 } from './5-last-use.ts'
import { ChannelKeys1798000000000 } from './6-channel-keys.ts'
import { Pushes1799000000000 } from './7-pushes.ts'
import { Parked1799500000000 } from './8-parked.ts'
import { Authorization1800000000000 } from './9-authorization.ts'
import { Assistants1800500000000 } from './10-assistants.ts'
import { Strangers1801500000000 } from './11-strangers.ts'
import { KeyRights1802000000000 } from './12-key-rights.ts'
import { Compact1803000000000 } from './13-compact.ts'
import { Rules1804000000000 } from './14-rules.ts'
import { Scheduled1804500000000 } from './15-scheduled.ts'
import { MqttSessions1805000000000 } from './16-mqtt-sessions.ts'
import { Mappings1805500000000 } from './17-mappings.ts'
import { SessionKeys1806000000000 } from './18-session-keys.ts'
import { UpdateBlocks1807000000000 } from './19-update-blocks.ts'

/** Every step, in order. */
export const MIGRATIONS = [
  Tables1766000000000,
  Spans1795000000000,
  Blocks1795200000000,
  SessionNumbers1795400000000,
  LastUse1796000000000,
  ChannelKeys1798000000000,
  Pushes1799000000000,
  Parked1799500000000,
  Authorization1800000000000,
  Assistants1800500000000,
  Strangers1801500000000,
  KeyRights1802000000000,
  Compact1803000000000,
  Rules1804000000000,
  Scheduled1804500000000,
  MqttSessions1805000000000,
  Mappings1805500000000,
  SessionKeys1806000000000,
  UpdateBlocks1807000000000,
]

// A submission again, as a person's own program would send it. The secret is never in the text: it
// comes from the environment, or is filled in by hand.

import type { FeedRecord } from '#src/client/bodies'
import { recordOf } from '#domain/record'
import type { Json } from '#domain/submission'

export const REPLAYS = ['curl', 'JavaScript', 'Python', 'Arduino'] as const
export type Replay = (typeof REPLAYS)[number]

/** The gateway that gets it. */
export interface ReplayPlace {
  readonly baseUrl: string
  readonly channelId: string
  /** True where the gateway asks for its token. */
  readonly hasToken: boolean
}

const SECRET = 'HELIOGRAPH_PASSWORD'
const TOKEN = 'HELIOGRAPH_TOKEN'

/** The path and the body of the submission that made an entry, without the secret. */
export function submissionOf(
  entry: Pick<FeedRecord, 'model' | 'action' | 'entity_id' | 'payload'>,
) {
  const { model, action, entity_id: id } = entry
  const payload = (recordOf(entry.payload) ?? {}) as Readonly<Record<string, Json>>
  if (model === 'message') return { path: '/message', body: payload }
  const named = model === 'event' && action === 'create' ? {} : { [`${model}_id`]: id }
  return { path: `/${model}/${action}`, body: { ...named, ...payload } }
}

type Submission = ReturnType<typeof submissionOf>

/** The text of a program, or of a line for a terminal, that sends the submission. */
export function replayAs(kind: Replay, submission: Submission, place: ReplayPlace): string {
  return WRITERS[kind](submission, place)
}

/** A place in JSON that is taken for the secret: no text of a caller has it. */
const HOLE = '\u0000'

const jsonOf = ({ body }: Submission, { channelId }: ReplayPlace): string =>
  JSON.stringify({ channel_id: channelId, password: HOLE, ...body }, undefined, 2)
const HOLE_TEXT = JSON.stringify(HOLE)

const WRITERS: Readonly<Record<Replay, (of: Submission, at: ReplayPlace) => string>> = {
  curl: (of, at) => {
    const json = jsonOf(of, at).replaceAll("'", `'\\''`).replace(HOLE_TEXT, `"'"$${SECRET}"'"`)
    const token = at.hasToken ? ` \\\n  -H "authorization: Bearer $${TOKEN}"` : ''
    return `curl ${at.baseUrl}${of.path} -H 'content-type: application/json'${token} -d '${json}'`
  },
  JavaScript: (of, at) => {
    const token = at.hasToken ? `, authorization: \`Bearer \${env.${TOKEN}}\`` : ''
    return [
      'import { env, stdout } from "node:process"',
      '',
      `const body = ${jsonOf(of, at).replace(HOLE_TEXT, `env.${SECRET}`)}`,
      `const answer = await fetch('${at.baseUrl}${of.path}', {`,
      "  method: 'POST',",
      `  headers: { 'content-type': 'application/json'${token} },`,
      '  body: JSON.stringify(body),',
      '})',
      'stdout.write(`${answer.status} ${await answer.text()}`)',
    ].join('\n')
  },
  Python: (of, at) => {
    const token = at.hasToken ? `, "Authorization": "Bearer " + os.environ["${TOKEN}"]` : ''
    // A text of JSON within a text of Python: the same escapes mean the same.
    const json = JSON.stringify(JSON.stringify({ channel_id: at.channelId, ...of.body }))
    return [
      'import json, os, urllib.request',
      '',
      `body = json.loads(${json})`,
      `body["password"] = os.environ["${SECRET}"]`,
      'request = urllib.request.Request(',
      `    "${at.baseUrl}${of.path}",`,
      '    json.dumps(body).encode(),',
      `    {"Content-Type": "application/json"${token}},`,
      ')',
      'print(urllib.request.urlopen(request).read().decode())',
    ].join('\n')
  },
  Arduino: (of, at) => {
    const json = JSON.stringify({ channel_id: at.channelId, password: HOLE, ...of.body })
    const text = JSON.stringify(json).replace(
      JSON.stringify(HOLE_TEXT).slice(1, -1),
      `\\"" ${SECRET} "\\"`,
    )
    return [
      '#include <HTTPClient.h>',
      `#define ${SECRET} "…"`,
      ...(at.hasToken ? [`#define ${TOKEN} "…"`] : []),
      '',
      'HTTPClient http;',
      `http.begin("${at.baseUrl}${of.path}");`,
      'http.addHeader("Content-Type", "application/json");',
      ...(at.hasToken ? [`http.addHeader("Authorization", "Bearer " ${TOKEN});`] : []),
      `int status = http.POST(${text});`,
      'Serial.println(status);',
      'http.end();',
    ].join('\n')
  },
}

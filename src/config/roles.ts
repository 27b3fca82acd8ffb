// The roles of a process in a cluster.

import { read, refuse } from './setting.ts'
import type { Env } from './setting.ts'

const ROLES = ['ingress', 'actors', 'dispatch'] as const
type Role = (typeof ROLES)[number]

export type Roles = Readonly<Record<Role, boolean>>

/** Reads the roles. A sole process must take requests and apply them; it may leave dispatch out. */
export function roles(env: Env, { isCluster }: { readonly isCluster: boolean }): Roles {
  const text = read(env, 'SERVICE_ROLES') ?? ROLES.join(',')
  const names = text.split(',').map((name) => name.trim())
  const known: readonly string[] = ROLES
  const allowed = `one or more of ${ROLES.join(', ')}`
  if (!names.every((name) => known.includes(name)) || new Set(names).size !== names.length) {
    refuse('SERVICE_ROLES', `is ${JSON.stringify(text)}`, allowed)
  }
  const [ingress, actors, dispatch] = ROLES.map((role) => names.includes(role))
  if (!isCluster && !(ingress === true && actors === true)) {
    const everything = `${ROLES.join(',')}, for one process does everything`
    refuse('SERVICE_ROLES', `is ${JSON.stringify(text)} without SERVICE_NATS_URL`, everything)
  }
  return Object.freeze({
    ingress: ingress === true,
    actors: actors === true,
    dispatch: dispatch === true,
  })
}

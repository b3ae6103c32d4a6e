/**
 * Every scope. `keys:manage` covers API keys, `jobs:manage` jobs that have ended, `schedules:manage` schedules, and
 * `spaces:manage` the settings and pause of spaces.
 *
 * @see docs/api-keys.md#scopes
 */
export const SCOPES = [
  'jobs:create',
  'jobs:read',
  'jobs:read:progress',
  'jobs:poll',
  'jobs:ack',
  'jobs:progress',
  'jobs:event',
  'jobs:complete',
  'jobs:fail',
  'jobs:kill',
  'jobs:manage',
  'jobs:keepalive',
  'jobs:worker',
  'schedules:manage',
  'spaces:manage',
  'keys:manage',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Scopes that include others. `jobs:worker` deliberately omits jobs:create, jobs:kill and jobs:manage. */
const COVERS: Partial<Record<Scope, readonly Scope[]>> = {
  'jobs:read': ['jobs:read:progress'],
  'jobs:worker': [
    'jobs:read',
    'jobs:read:progress',
    'jobs:poll',
    'jobs:ack',
    'jobs:progress',
    'jobs:event',
    'jobs:complete',
    'jobs:fail',
    'jobs:keepalive',
  ],
};

/** Scopes that `jobs:write` expands to when a key is created. Clients of emit.run use it. */
const WRITE: readonly Scope[] = ['jobs:ack', 'jobs:progress', 'jobs:event', 'jobs:complete', 'jobs:fail'];

/** Scopes that may be requested for a key. */
export const REQUESTED_SCOPES = [...SCOPES, 'jobs:write'] as const;

/** Return the scopes that a key gets, without duplicates. `jobs:write` isn't a scope, but shorthand for several. */
export function scopesOf(requested: readonly (typeof REQUESTED_SCOPES)[number][]): Scope[] {
  return [...new Set(requested.flatMap((scope) => (scope === 'jobs:write' ? WRITE : [scope])))];
}

/** Return all scopes that a list of scopes grants, including those they cover. */
export function grantsOf(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.flatMap((scope) => [scope, ...(COVERS[scope] ?? [])]));
}

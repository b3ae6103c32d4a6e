/** Every scope. `keys:manage` is for API keys, `jobs:manage` for jobs that have ended, `spaces:manage` for the settings
 * of spaces and their pause. @see docs/api-keys.md#scopes */
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
  'spaces:manage',
  'keys:manage',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Scopes that include others. `jobs:worker` leaves out jobs:create, jobs:kill and jobs:manage on purpose. */
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

/** Scopes for which `jobs:write` stands in a request for a key, as clients of emit.run know it. */
const WRITE: readonly Scope[] = ['jobs:ack', 'jobs:progress', 'jobs:event', 'jobs:complete', 'jobs:fail'];

/** What a request for a key may have among its scopes. */
export const REQUESTED_SCOPES = [...SCOPES, 'jobs:write'] as const;

/** Return the scopes that a key gets, each once. `jobs:write` is not one of them, but a shorthand for some. */
export function scopesOf(requested: readonly (typeof REQUESTED_SCOPES)[number][]): Scope[] {
  return [...new Set(requested.flatMap((scope) => (scope === 'jobs:write' ? WRITE : [scope])))];
}

/** Return all scopes that a list of scopes grants, including the covered ones. */
export function grantsOf(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.flatMap((scope) => [scope, ...(COVERS[scope] ?? [])]));
}

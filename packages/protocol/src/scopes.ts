/** Scopes of spec §5.4, and `keys:manage` for key administration (our addition). */
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
  'jobs:keepalive',
  'jobs:worker',
  'keys:manage',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Scopes that include others. `jobs:worker` leaves out jobs:create and jobs:kill on purpose (§5.5). */
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

/** Return all scopes that a list of scopes grants, including the covered ones. */
export function grantsOf(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.flatMap((scope) => [scope, ...(COVERS[scope] ?? [])]));
}

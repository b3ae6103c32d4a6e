import type { Scope } from '@yardmaster/protocol';
import { can, ownKey } from '../../api/session.js';

/** Descriptions of all scopes. The type makes sure that none is missing. */
const SCOPES: Record<Scope, string> = {
  'jobs:create': 'create and reschedule jobs, resend callbacks',
  'jobs:read': 'view and watch jobs, logs and statistics',
  'jobs:read:progress': 'view only the progress of jobs',
  'jobs:worker': 'everything that a worker needs, including jobs:read',
  'jobs:poll': 'claim jobs',
  'jobs:ack': 'ack jobs',
  'jobs:progress': 'report progress',
  'jobs:event': 'report checkpoints, events and logs',
  'jobs:keepalive': 'send keepalives',
  'jobs:complete': 'complete jobs',
  'jobs:fail': 'fail and release jobs',
  'jobs:kill': 'kill jobs',
  'jobs:manage': 'requeue and delete jobs, one or many at once',
  'schedules:manage': 'change, pause and run schedules, together with jobs:create',
  'spaces:manage': 'change settings, pause and resume spaces',
  'keys:manage': 'manage keys, view the audit log and callback secrets',
};

const PRESETS: readonly { title: string; scopes: readonly Scope[] }[] = [
  { title: 'viewer', scopes: ['jobs:read'] },
  { title: 'producer', scopes: ['jobs:create', 'jobs:read'] },
  { title: 'worker', scopes: ['jobs:worker'] },
  { title: 'operator', scopes: ['jobs:read', 'jobs:create', 'jobs:kill', 'jobs:manage', 'spaces:manage'] },
];

interface ScopesFieldProps {
  value: readonly Scope[];
  onChange: (scopes: readonly Scope[]) => void;
}

/** Render a checkbox for each scope, and buttons that select the scopes of a role. */
export function ScopesField({ value, onChange }: ScopesFieldProps) {
  const toggle = (scope: Scope) =>
    onChange(value.includes(scope) ? value.filter((one) => one !== scope) : [...value, scope]);
  const presets = PRESETS.filter((preset) => preset.scopes.every(mayGive));
  return (
    <>
      {presets.length > 0 && (
        <p class="buttons">
          Presets:
          {presets.map(({ title, scopes }) => (
            <button key={title} type="button" aria-pressed={areSame(value, scopes)} onClick={() => onChange(scopes)}>
              {title}
            </button>
          ))}
        </p>
      )}
      <fieldset class="checks">
        <legend>Scopes</legend>
        {Object.entries(SCOPES)
          .filter(([scope]) => mayGive(scope as Scope))
          .map(([scope, meaning]) => (
            <label key={scope}>
              <input type="checkbox" checked={value.includes(scope as Scope)} onChange={() => toggle(scope as Scope)} />{' '}
              {scope} <small>{meaning}</small>
            </label>
          ))}
      </fieldset>
    </>
  );
}

/** Whether the user may create a key with a scope. A key bound to a space can grant only its own scopes. */
export const mayGive = (scope: Scope) => ownKey.value?.spaceId == null || can(scope);

function areSame(some: readonly Scope[], others: readonly Scope[]): boolean {
  return some.length === others.length && some.every((scope) => others.includes(scope));
}

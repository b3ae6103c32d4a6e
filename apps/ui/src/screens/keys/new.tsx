import { useSignal } from '@preact/signals';
import type { CreatedApiKey, CreateKeyRequest, Scope } from '@yardmaster/protocol';
import { call } from '../../api/client.js';
import { ownKey } from '../../api/session.js';
import { ActionForm } from '../../parts/action.js';
import { Field } from '../../parts/field.js';
import { mayGive, ScopesField } from './scopes.js';
import { NewSecret } from './secret.js';

/** The form as texts of its fields. */
interface Draft {
  name: string;
  scopes: readonly Scope[];
  spaceId: string;
  /** Local time, as the browser writes it: `2027-01-31T09:30`. */
  expiresAt: string;
  perSecond: string;
  burst: string;
}

/** The dialog that creates a key, and then shows its secret. */
export function NewKey() {
  const boundTo = ownKey.value?.spaceId ?? null;
  const draft = useSignal<Draft>({
    name: '',
    scopes: (['jobs:read'] as const).filter(mayGive),
    spaceId: boundTo ?? '',
    expiresAt: '',
    perSecond: '',
    burst: '',
  });
  const created = useSignal<CreatedApiKey | null>(null);
  const change = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes };
  };
  const run = async () => {
    created.value = await call<CreatedApiKey>('POST', 'keys', { body: requestOf(draft.value) });
    return '';
  };

  if (created.value !== null) return <NewSecret created={created.value} title="The key is created" />;
  const { name, scopes } = draft.value;
  return (
    <ActionForm title="New API key" verb="Create" isDisabled={scopes.length === 0} run={run}>
      <Field label="Name">
        <input required maxLength={128} value={name} onInput={(event) => change({ name: event.currentTarget.value })} />
      </Field>
      <ScopesField value={scopes} onChange={(changed) => change({ scopes: changed })} />
      <Bounds draft={draft.value} change={change} isBound={boundTo !== null} />
    </ActionForm>
  );
}

interface BoundsProps {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  /** Whether the key of the person works in one space only. It creates keys only there. */
  isBound: boolean;
}

/** Optional fields: where, how long and how often the key may be used. */
function Bounds({ draft, change, isBound }: BoundsProps) {
  const hasLimits = draft.perSecond !== '' || draft.burst !== '';
  return (
    <div class="fields">
      <Field label="Space (optional)" hint={isBound ? 'Your own key works only here' : 'Empty for every space'}>
        <input
          value={draft.spaceId}
          readOnly={isBound}
          pattern="[A-Za-z0-9._:\-]{1,128}"
          title="1 to 128 characters of A-Z a-z 0-9 . _ : -"
          onInput={(event) => change({ spaceId: event.currentTarget.value })}
        />
      </Field>
      <Field label="Expires (optional)" hint={`Your local time; empty for ${isBound ? 'that of your key' : 'never'}`}>
        <input
          type="datetime-local"
          value={draft.expiresAt}
          onInput={(event) => change({ expiresAt: event.currentTarget.value })}
        />
      </Field>
      <Field label="Calls per second (optional)" hint="On average, in each process of the API">
        <input
          type="number"
          min={0.01}
          max={100_000}
          step="any"
          required={hasLimits}
          value={draft.perSecond}
          onInput={(event) => change({ perSecond: event.currentTarget.value })}
        />
      </Field>
      <Field label="Burst (optional)" hint="Calls that it may make at once after a pause">
        <input
          type="number"
          min={1}
          max={100_000}
          required={hasLimits}
          value={draft.burst}
          onInput={(event) => change({ burst: event.currentTarget.value })}
        />
      </Field>
    </div>
  );
}

function requestOf({ name, scopes, spaceId, expiresAt, perSecond, burst }: Draft): CreateKeyRequest {
  return {
    name,
    scopes: [...scopes],
    spaceId: spaceId === '' ? null : spaceId,
    expiresAt: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
    limits: perSecond === '' ? null : { perSecond: Number(perSecond), burst: Number(burst) },
  };
}

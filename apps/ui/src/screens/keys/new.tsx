import { useSignal } from '@preact/signals';
import type { CreatedApiKey, CreateKeyRequest, Scope } from '@yardmaster/protocol';
import { call } from '../../api/client.js';
import { ownKey } from '../../api/session.js';
import { ActionForm } from '../../parts/dialog.js';
import { Field, TextInput } from '../../parts/form.js';
import { mayGive, ScopesField } from './scopes.js';
import { NewSecret } from './secret.js';

/** Render the dialog that creates a key, and then shows its secret. */
export function NewKey() {
  /** The space of the user's key, if it has one. Such a key creates keys only there. */
  const boundTo = ownKey.value?.spaceId ?? null;
  const name = useSignal('');
  const scopes = useSignal<readonly Scope[]>((['jobs:read'] as const).filter(mayGive));
  const spaceId = useSignal(boundTo ?? '');
  /** Local time in the format of the browser: `2027-01-31T09:30`. */
  const expiresAt = useSignal('');
  const perSecond = useSignal('');
  const burst = useSignal('');
  const created = useSignal<CreatedApiKey | null>(null);
  const run = async () => {
    const body: CreateKeyRequest = {
      name: name.value,
      scopes: [...scopes.value],
      spaceId: spaceId.value === '' ? null : spaceId.value,
      expiresAt: expiresAt.value === '' ? null : new Date(expiresAt.value).toISOString(),
      limits: perSecond.value === '' ? null : { perSecond: Number(perSecond.value), burst: Number(burst.value) },
    };
    created.value = await call<CreatedApiKey>('POST', 'keys', { body });
    return '';
  };

  if (created.value !== null) return <NewSecret created={created.value} title="Key created" />;
  const hasLimits = perSecond.value !== '' || burst.value !== '';
  return (
    <ActionForm title="New API key" verb="Create" isDisabled={scopes.value.length === 0} run={run}>
      <Field label="Name">
        <TextInput required maxLength={128} text={name} />
      </Field>
      <ScopesField value={scopes.value} onChange={(changed) => (scopes.value = changed)} />
      <div class="fields">
        <Field
          label="Space (optional)"
          hint={boundTo === null ? 'Empty for every space' : 'Your key works only in this space'}
        >
          <TextInput
            readOnly={boundTo !== null}
            pattern="[A-Za-z0-9._:\-]{1,128}"
            title="1 to 128 characters of A-Z a-z 0-9 . _ : -"
            text={spaceId}
          />
        </Field>
        <Field
          label="Expires (optional)"
          hint={`Local time; empty for ${boundTo === null ? 'never' : 'the expiry of your key'}`}
        >
          <TextInput type="datetime-local" text={expiresAt} />
        </Field>
        <Field label="Calls per second (optional)" hint="On average, in each API process">
          <TextInput type="number" min={0.01} max={100_000} step="any" required={hasLimits} text={perSecond} />
        </Field>
        <Field label="Burst (optional)" hint="Maximum calls at once after an idle period">
          <TextInput type="number" min={1} max={100_000} required={hasLimits} text={burst} />
        </Field>
      </div>
    </ActionForm>
  );
}

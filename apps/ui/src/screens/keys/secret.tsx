import { useSignal } from '@preact/signals';
import type { ApiKey, CreatedApiKey } from '@yardmaster/protocol';
import type { ComponentChildren } from 'preact';
import { call, segment } from '../../api/client.js';
import { ownKey, signIn } from '../../api/session.js';
import { ActionForm, Shown } from '../../parts/dialog.js';
import { Field, SecondsSelect } from '../../parts/form.js';
import { ErrorNotice } from '../../parts/notice.js';
import { Copyable, Text } from '../../parts/show.js';

const OVERLAPS = [
  { seconds: 0, title: 'none: the old secret stops working now' },
  { seconds: 3600, title: '1 hour' },
  { seconds: 86_400, title: '1 day' },
  { seconds: 604_800, title: '7 days' },
];

/** Render the dialog that gives a key a new secret, and then shows it. */
export function RotateKey({ apiKey: { id, name } }: { apiKey: ApiKey }) {
  const overlapSeconds = useSignal(86_400);
  const rotated = useSignal<CreatedApiKey | null>(null);
  const signInError = useSignal('');
  const isOwn = id === ownKey.value?.id;

  const run = async () => {
    const body = { overlapSeconds: overlapSeconds.value };
    const created = await call<CreatedApiKey>('POST', `keys/${segment(id)}/rotate`, { body });
    rotated.value = created;
    // The rotation has succeeded, so an error here must not look like a failed rotation.
    if (isOwn) {
      await signIn(created.key).catch((error: Error) => {
        signInError.value = error.message;
      });
    }
    return '';
  };

  if (rotated.value !== null) {
    return (
      <NewSecret created={rotated.value} title="New secret">
        {isOwn && signInError.value === '' && <p>You are signed in with the new secret.</p>}
        {signInError.value !== '' && (
          <ErrorNotice>
            This page could not sign in with the new secret, so sign in yourself: {signInError.value}
          </ErrorNotice>
        )}
      </NewSecret>
    );
  }
  return (
    <ActionForm
      title={
        <>
          Rotate the key <Text>{name}</Text>?
        </>
      }
      verb="Rotate"
      isDestructive={overlapSeconds.value === 0}
      run={run}
    >
      <p>
        The key gets a new secret, and keeps its ID, scopes and limits. Give the new secret to every program that uses
        the key before the overlap ends. If an earlier rotation still overlaps, its old secret stops working
        immediately.
      </p>
      <Field label="Overlap" hint="How long the old secret keeps working">
        <SecondsSelect seconds={overlapSeconds} options={OVERLAPS} />
      </Field>
      {overlapSeconds.value === 0 && (
        <p class="notice bad">Programs with the old secret lose access within seconds, and their streams are closed.</p>
      )}
      {isOwn && <p class="notice">You are signed in with this key. This page continues with the new secret.</p>}
    </ActionForm>
  );
}

interface NewSecretProps {
  created: CreatedApiKey;
  title: string;
  children?: ComponentChildren;
}

/** Render a dialog that shows a new secret. It can't be shown again, because the service stores only a hash. */
export function NewSecret({ created, title, children }: NewSecretProps) {
  return (
    <Shown title={title}>
      <p>
        <Text>{created.name}</Text>: <Copyable text={created.key} label="key" />
      </p>
      <p class="notice">Copy the key now. It is never shown again.</p>
      {children}
    </Shown>
  );
}

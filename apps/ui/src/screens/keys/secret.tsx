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
  { seconds: 0, title: 'none: refuse the present secret now' },
  { seconds: 3600, title: '1 hour' },
  { seconds: 86_400, title: '1 day' },
  { seconds: 604_800, title: '7 days' },
];

/** The dialog that gives a key another secret, and then shows it. */
export function RotateKey({ apiKey: { id, name } }: { apiKey: ApiKey }) {
  const overlapSeconds = useSignal(86_400);
  const rotated = useSignal<CreatedApiKey | null>(null);
  const signInError = useSignal('');
  const isOwn = id === ownKey.value?.id;

  const run = async () => {
    const body = { overlapSeconds: overlapSeconds.value };
    const created = await call<CreatedApiKey>('POST', `keys/${segment(id)}/rotate`, { body });
    rotated.value = created;
    // The secret is on the screen already, so an error here must not look like one of the rotation.
    if (isOwn) {
      await signIn(created.key).catch((error: Error) => {
        signInError.value = error.message;
      });
    }
    return '';
  };

  if (rotated.value !== null) {
    return (
      <NewSecret created={rotated.value} title="The key has a new secret">
        {isOwn && signInError.value === '' && <p>You are signed in with the new secret.</p>}
        {signInError.value !== '' && (
          <ErrorNotice>Sign in with the new secret, because this page could not: {signInError.value}</ErrorNotice>
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
        The key keeps its id, its scopes and its limits, and gets a new secret. Give it to every program that uses the
        key, before the overlap is over. A secret from before an earlier rotation is refused at once.
      </p>
      <Field label="Overlap" hint="How long the present secret is accepted beside the new one">
        <SecondsSelect seconds={overlapSeconds} options={OVERLAPS} />
      </Field>
      {overlapSeconds.value === 0 && (
        <p class="notice bad">
          Programs with the present secret are refused within seconds, and their streams are closed.
        </p>
      )}
      {isOwn && <p class="notice">This is the key with which you are signed in. This page goes on with the new one.</p>}
    </ActionForm>
  );
}

interface NewSecretProps {
  created: CreatedApiKey;
  title: string;
  children?: ComponentChildren;
}

/** The inside of a dialog that shows a new secret. The service stores only its hash, so nothing can show it again. */
export function NewSecret({ created, title, children }: NewSecretProps) {
  return (
    <Shown title={title}>
      <p>
        <Text>{created.name}</Text>: <Copyable text={created.key} label="The key" />
      </p>
      <p class="notice">Copy the key now. It is never shown again.</p>
      {children}
    </Shown>
  );
}

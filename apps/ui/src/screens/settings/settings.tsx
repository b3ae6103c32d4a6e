import { useSignal } from '@preact/signals';
import type { CallbackSecretList } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { ActionForm, Shown, showDialog } from '../../parts/dialog.js';
import { Copyable } from '../../parts/show.js';
import { SpaceHeading } from '../space-heading.js';
import { SettingsForm } from './form.js';
import { Pauses } from './pause.js';

/** Show the settings of a space, what is paused in it, and its callback secret. */
export function Settings({ spaceId }: { spaceId: string }) {
  return (
    <>
      <SpaceHeading spaceId={spaceId} part="settings" />
      {can('spaces:manage') ? (
        <>
          <Pauses spaceId={spaceId} />
          <SettingsForm spaceId={spaceId} />
        </>
      ) : (
        <p class="notice">This key lacks the scope spaces:manage, so you cannot see or change the settings.</p>
      )}
      {can('keys:manage') && <CallbackSecret spaceId={spaceId} />}
    </>
  );
}

/** Render the button that shows the callback secret of a space. */
function CallbackSecret({ spaceId }: { spaceId: string }) {
  return (
    <section aria-labelledby="callback-secret-title">
      <h2 id="callback-secret-title">Callback secret</h2>
      <p>Receivers use it to verify that a callback comes from this service.</p>
      <p class="buttons">
        <button type="button" onClick={() => showDialog(<SecretDialog spaceId={spaceId} />)}>
          Show callback secret…
        </button>
      </p>
    </section>
  );
}

function SecretDialog({ spaceId }: { spaceId: string }) {
  const secrets = useSignal<string[] | null>(null);
  const run = async () => {
    const response = await call<CallbackSecretList>('GET', `spaces/${segment(spaceId)}/callback-secret`);
    secrets.value = response.secrets;
    return '';
  };
  if (secrets.value === null) {
    return (
      <ActionForm title={`Show the callback secret of ${spaceId}?`} verb="Show" run={run}>
        <p>Anyone who sees it can forge callbacks from this space. It stays on screen until you close the dialog.</p>
      </ActionForm>
    );
  }
  return (
    <Shown title="Callback secret">
      {secrets.value.length === 0 && (
        <p>The service does not sign callbacks, because CALLBACK_SIGNING_SECRET is not set.</p>
      )}
      {secrets.value.length > 1 && (
        <p>There are several secrets, because CALLBACK_SIGNING_SECRET is being rotated. The newest is first.</p>
      )}
      {secrets.value.map((secret) => (
        <p key={secret}>
          <Copyable text={secret} label="secret" />
        </p>
      ))}
    </Shown>
  );
}

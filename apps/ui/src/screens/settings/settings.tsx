import { can } from '../../api/session.js';
import { SpaceHeading } from '../space-heading.js';
import { CallbackSecret } from './callback-secret.js';
import { SettingsForm } from './form.js';
import { Pauses } from './pause.js';

/** The settings of a space, what is paused in it, and its callback secret. */
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
        <p class="notice">
          This key lacks the scope spaces:manage, so that it can neither see nor change the settings.
        </p>
      )}
      {can('keys:manage') && <CallbackSecret spaceId={spaceId} />}
    </>
  );
}

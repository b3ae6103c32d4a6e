import { useSignal } from '@preact/signals';
import type { StreamToken } from '@yardmaster/protocol';
import { call } from '../../api/client.js';
import { ActionForm, Copyable } from '../../parts/action.js';
import { Field } from '../../parts/field.js';
import { linkTo } from '../../route.js';

const VALID = [
  { seconds: 900, title: '15 minutes' },
  { seconds: 3600, title: '1 hour' },
  { seconds: 86_400, title: '1 day' },
];

/** Make a link for a person without a key, which shows the progress of one job, and nothing else. */
export function ShareForm({ jobId }: { jobId: string }) {
  const seconds = useSignal(3600);
  const link = useSignal('');
  const run = async () => {
    const body = { scope: 'jobs:read:progress', jobIds: [jobId], expiresInSeconds: seconds.value };
    const { token } = await call<StreamToken>('POST', 'stream-tokens', { body });
    link.value = String(new URL(linkTo(['progress', jobId], { token }), location.href));
    return '';
  };
  return (
    <ActionForm
      title="Share the progress of this job?"
      verb={link.value === '' ? 'Make a link' : 'Make another link'}
      closeText={link.value === '' ? 'Cancel' : 'Close'}
      run={run}
    >
      <p>
        Everyone with the link sees the progress of this job until the link expires: no payload, no result, no logs.
      </p>
      <Field label="Valid for">
        <select value={seconds.value} onChange={(event) => (seconds.value = Number(event.currentTarget.value))}>
          {VALID.map((one) => (
            <option key={one.seconds} value={one.seconds}>
              {one.title}
            </option>
          ))}
        </select>
      </Field>
      {link.value !== '' && <Copyable text={link.value} label="Link" />}
    </ActionForm>
  );
}

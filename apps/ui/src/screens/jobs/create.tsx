import { useSignal } from '@preact/signals';
import type { Job } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { ActForm } from '../../parts/act.js';
import { showDialog } from '../../parts/dialog.js';
import { Field, JsonInput, jsonOf } from '../../parts/field.js';
import { goTo } from '../../route.js';

export function askToCreate(spaceId: string): void {
  showDialog(<CreateForm spaceId={spaceId} />);
}

function CreateForm({ spaceId }: { spaceId: string }) {
  const name = useSignal('');
  const payload = useSignal('');
  const options = useSignal('');
  const run = async () => {
    const body = {
      name: name.value,
      payload: jsonOf(payload.value, 'Payload') ?? null,
      ...(jsonOf(options.value, 'Further fields') as object | undefined),
    };
    const { id } = await call<Job>('POST', `spaces/${segment(spaceId)}/jobs`, { body });
    goTo(['jobs', id]);
    return `Created ${id}`;
  };
  return (
    <ActForm title={`New job in ${spaceId}`} verb="Create" run={run}>
      <Field label="Name">
        <input
          required
          maxLength={128}
          value={name.value}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
      </Field>
      <Field label="Payload" hint="A JSON object, or nothing">
        <JsonInput rows={6} text={payload.value} onText={(text) => (payload.value = text)} />
      </Field>
      <Field
        label="Further fields"
        hint='A JSON object of further fields of the call, such as {"delaySeconds": 60, "tags": ["eu"]}'
      >
        <JsonInput rows={2} text={options.value} onText={(text) => (options.value = text)} />
      </Field>
    </ActForm>
  );
}

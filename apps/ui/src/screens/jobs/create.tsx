import { useSignal } from '@preact/signals';
import type { Job } from '@yardmaster/protocol';
import { callPage, segment } from '../../api/client.js';
import { ActionForm, showDialog } from '../../parts/dialog.js';
import { Field, JsonInput, jsonOf, TextInput } from '../../parts/form.js';
import { goTo } from '../../route.js';

export function showCreateForm(spaceId: string): void {
  showDialog(<CreateForm spaceId={spaceId} />);
}

function CreateForm({ spaceId }: { spaceId: string }) {
  const name = useSignal('');
  const payload = useSignal('');
  const options = useSignal('');
  const run = async () => {
    const further = jsonOf(options.value, 'Further fields');
    if (further !== undefined && (typeof further !== 'object' || further === null || Array.isArray(further)))
      throw new Error('Further fields must be a JSON object');
    const body = { name: name.value, payload: jsonOf(payload.value, 'Payload') ?? null, ...further };
    const created = await callPage<Job>('POST', `spaces/${segment(spaceId)}/jobs`, { body, isStrict: true });
    const { id } = created.body;
    goTo(['jobs', id]);
    if (created.status === 201) return `Created ${id}`;
    return `No job was created: ${id} has this unique key already${isReplacing(further) ? '. If it waited, it was replaced' : ''}`;
  };
  return (
    <ActionForm title={`New job in ${spaceId}`} verb="Create" run={run}>
      <Field label="Name">
        <TextInput required maxLength={128} text={name} />
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
    </ActionForm>
  );
}

/** Whether fields of a create let it replace a waiting job with the same unique key. */
const isReplacing = (fields: { unique?: { onConflict?: unknown } } | undefined) =>
  fields?.unique?.onConflict === 'replace';

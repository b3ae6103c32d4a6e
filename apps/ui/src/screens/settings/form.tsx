import { useSignal } from '@preact/signals';
import type { SettingsChange, SpaceSettings } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { useLoaded } from '../../live/use-loaded.js';
import { Field, JsonInput, jsonOf, useSubmit } from '../../parts/form.js';
import { ErrorNotice, notify } from '../../parts/notice.js';

/** Render the form of the settings. It sends only changed fields, so that it doesn't revert the changes of other users. */
export function SettingsForm({ spaceId }: { spaceId: string }) {
  const path = `spaces/${segment(spaceId)}/settings`;
  const { value, error } = useLoaded(spaceId, (signal) => call<SpaceSettings>('GET', path, { signal }));
  const draft = useSignal<Draft>({});
  const settings = value.value;
  const changed = settings === null ? [] : changedFields(settings, draft.value);
  const saving = useSubmit(async () => {
    value.value = await call<SpaceSettings>('PATCH', path, { body: changeOf(changed, draft.value) });
    draft.value = {};
    notify('Settings saved');
  });
  if (settings === null) return <ErrorNotice>{error.value?.message}</ErrorNotice>;
  return (
    <form onSubmit={saving.submit} aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      {SECTIONS.map(({ title, fields }) => (
        <fieldset key={title} disabled={saving.isRunning.value}>
          <legend>{title}</legend>
          <div class="fields">
            {fields.map((field) => (
              <Field key={field.path} label={field.label} hint={field.hint}>
                <Control
                  kind={field.kind}
                  text={draft.value[field.path] ?? textOf(settings, field)}
                  onText={(text) => (draft.value = { ...draft.value, [field.path]: text })}
                />
              </Field>
            ))}
          </div>
        </fieldset>
      ))}
      <ErrorNotice>{saving.error.value}</ErrorNotice>
      <p class="buttons">
        <button type="submit" class="primary" disabled={changed.length === 0 || saving.isRunning.value}>
          {saveText(changed.length)}
        </button>
        <button
          type="button"
          disabled={changed.length === 0 || saving.isRunning.value}
          onClick={() => (draft.value = {})}
        >
          Discard
        </button>
      </p>
    </form>
  );
}

const saveText = (changes: number) =>
  changes === 0 ? 'Save' : `Save ${changes} ${changes === 1 ? 'change' : 'changes'}`;

interface ControlProps extends Pick<SettingField, 'kind'> {
  text: string;
  onText: (text: string) => void;
}

function Control({ kind, text, onText }: ControlProps) {
  if (kind === 'boolean') {
    return (
      <select value={text} onChange={(event) => onText(event.currentTarget.value)}>
        <option value="">not set</option>
        <option value="true">yes</option>
        <option value="false">no</option>
      </select>
    );
  }
  if (kind === 'json') return <JsonInput rows={3} text={text} onText={onText} />;
  const step = kind === 'integer' ? 1 : 'any';
  return (
    <input type="number" min={0} step={step} value={text} onInput={(event) => onText(event.currentTarget.value)} />
  );
}

/** A setting of a space in the form. */
interface SettingField {
  /** Path of the setting in the body, such as `retention.deadSeconds`. */
  path: string;
  label: string;
  hint: string;
  kind: 'seconds' | 'integer' | 'json' | 'boolean';
}

/** Texts of edited fields, by path. */
type Draft = Readonly<Record<string, string>>;

const kept = (status: string): SettingField => ({
  ...{ path: `retention.${status}Seconds`, kind: 'seconds' },
  label: `Keep ${status} jobs (seconds)`,
  hint: '0 keeps them forever; empty for the default of the service',
});

const inDefaults = (name: string, kind: SettingField['kind'], hint: string): SettingField => ({
  path: `defaults.${name}`,
  label: name,
  kind,
  hint,
});

/** The settings by section of the form. */
const SECTIONS: readonly { title: string; fields: readonly SettingField[] }[] = [
  { title: 'Retention, for jobs that end from now on', fields: ['completed', 'dead', 'killed'].map(kept) },
  {
    title: 'Defaults of new jobs',
    fields: [
      inDefaults('maxRetries', 'integer', '0 to 100; empty for 3'),
      inDefaults('timeoutSeconds', 'seconds', 'Maximum time without a heartbeat, in seconds; empty for 300'),
      inDefaults('maxRunSeconds', 'seconds', 'Maximum time of an attempt, in seconds; empty for no limit'),
      inDefaults(
        'retry',
        'json',
        'Delays before retries, as JSON such as {"delaySeconds": 10, "factor": 2}; empty for no delay',
      ),
    ],
  },
  {
    title: 'Access and limits',
    fields: [
      {
        ...{ path: 'maxPending', label: 'Maximum pending jobs', kind: 'integer' },
        hint: 'More jobs are refused; empty for no limit',
      },
      {
        ...{ path: 'maxBytes', label: 'Maximum bytes', kind: 'integer' },
        hint: 'New jobs and logs are refused once jobs use this much Redis memory; empty for no limit',
      },
      {
        ...{ path: 'anonymousStreams', label: 'Job streams without a token', kind: 'boolean' },
        hint: 'Anyone who knows the ID of a job can watch its progress; not set: the default of the service',
      },
      {
        ...{ path: 'requireDeliveryToken', label: 'Require delivery tokens', kind: 'boolean' },
        hint: 'Refuse workers that send no delivery token; not set: no',
      },
    ],
  },
];

/** Return the text of a stored setting; empty if it is not set. */
function textOf(settings: SpaceSettings, { path, kind }: SettingField): string {
  const value = path
    .split('.')
    .reduce<unknown>((within, name) => (within as Record<string, unknown> | undefined)?.[name], settings);
  if (value === undefined) return '';
  return kind === 'json' ? JSON.stringify(value) : String(value);
}

/** Return the fields whose text differs from the stored setting. */
function changedFields(settings: SpaceSettings, draft: Draft): SettingField[] {
  const fields = SECTIONS.flatMap((section) => section.fields);
  return fields.filter((field) => (draft[field.path] ?? textOf(settings, field)) !== textOf(settings, field));
}

/**
 * Return the body that changes only these fields. An empty field becomes null, which restores its default.
 *
 * @throws Error that names a field with invalid JSON
 */
function changeOf(fields: readonly SettingField[], draft: Draft): SettingsChange {
  const change: Record<string, unknown> = {};
  for (const field of fields) {
    const [first, second] = field.path.split('.') as [string, string?];
    const value = settingOf(field, draft[field.path] ?? '');
    change[first] = second === undefined ? value : { ...(change[first] as object | undefined), [second]: value };
  }
  return change;
}

function settingOf({ label, kind }: SettingField, text: string): unknown {
  if (text.trim() === '') return null;
  if (kind === 'json') return jsonOf(text, label);
  return kind === 'boolean' ? text === 'true' : Number(text);
}

import { useSignal } from '@preact/signals';
import type { SpaceSettings } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { useLoaded } from '../../live/use-loaded.js';
import { Field, JsonInput, useSubmit } from '../../parts/form.js';
import { ErrorNotice, notify } from '../../parts/notice.js';
import { changedFields, changeOf, type Draft, SECTIONS, type SettingField, textOf } from './fields.js';

/** The form of the settings. It sends only what the person has changed, so that it undoes no change of another one. */
export function SettingsForm({ spaceId }: { spaceId: string }) {
  const path = `spaces/${segment(spaceId)}/settings`;
  const { value, error } = useLoaded(spaceId, (signal) => call<SpaceSettings>('GET', path, { signal }));
  const draft = useSignal<Draft>({});
  const settings = value.value;
  const changed = settings === null ? [] : changedFields(settings, draft.value);
  const {
    submit,
    error: saveError,
    isRunning,
  } = useSubmit(async () => {
    value.value = await call<SpaceSettings>('PATCH', path, { body: changeOf(changed, draft.value) });
    draft.value = {};
    notify('The settings are saved');
  });
  if (settings === null) return <ErrorNotice>{error.value?.message}</ErrorNotice>;
  return (
    <form onSubmit={submit} aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      {SECTIONS.map(({ title, fields }) => (
        <fieldset key={title} disabled={isRunning.value}>
          <legend>{title}</legend>
          <div class="fields">
            {fields.map((field) => (
              <Field key={field.path} label={field.label} hint={field.hint}>
                <Control
                  field={field}
                  text={draft.value[field.path] ?? textOf(settings, field)}
                  onText={(text) => (draft.value = { ...draft.value, [field.path]: text })}
                />
              </Field>
            ))}
          </div>
        </fieldset>
      ))}
      <ErrorNotice>{saveError.value}</ErrorNotice>
      <p class="buttons">
        <button type="submit" class="primary" disabled={changed.length === 0 || isRunning.value}>
          {saveText(changed.length)}
        </button>
        <button type="button" disabled={changed.length === 0 || isRunning.value} onClick={() => (draft.value = {})}>
          Discard
        </button>
      </p>
    </form>
  );
}

const saveText = (changes: number) =>
  changes === 0 ? 'Save' : `Save ${changes} ${changes === 1 ? 'change' : 'changes'}`;

interface ControlProps {
  field: SettingField;
  text: string;
  onText: (text: string) => void;
}

function Control({ field: { kind }, text, onText }: ControlProps) {
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

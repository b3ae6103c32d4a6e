import type { SettingsChange, SpaceSettings } from '@yardmaster/protocol';
import { jsonOf } from '../../parts/form.js';

/** A setting of a space, as a form shows it. */
export interface SettingField {
  /** Path of the setting in the body: `retention.deadSeconds`. */
  path: string;
  label: string;
  hint: string;
  kind: 'seconds' | 'integer' | 'json' | 'boolean';
}

/** Texts of the fields that a person has edited, by path. */
export type Draft = Readonly<Record<string, string>>;

const kept = (status: string): SettingField => ({
  ...{ path: `retention.${status}Seconds`, kind: 'seconds' },
  label: `Keep ${status} jobs, seconds`,
  hint: '0 keeps them for ever; empty: as the service is set',
});

const inDefaults = (name: string, kind: SettingField['kind'], hint: string): SettingField => ({
  path: `defaults.${name}`,
  label: name,
  kind,
  hint,
});

/** The settings by section of the form. */
export const SECTIONS: readonly { title: string; fields: readonly SettingField[] }[] = [
  { title: 'Retention of jobs that end from now on', fields: ['completed', 'dead', 'killed'].map(kept) },
  {
    title: 'Fields of new jobs whose creation leaves them out',
    fields: [
      inDefaults('maxRetries', 'integer', '0 to 100; empty: 3'),
      inDefaults('timeoutSeconds', 'seconds', 'Longest time between two heartbeats; empty: 300'),
      inDefaults('maxRunSeconds', 'seconds', 'Longest time of an attempt; empty: no limit'),
      inDefaults(
        'retry',
        'json',
        'Delays before further attempts, as JSON: {"delaySeconds": 10, "factor": 2}; empty: no delay',
      ),
    ],
  },
  {
    title: 'Access and limits',
    fields: [
      {
        ...{ path: 'maxPending', label: 'Most pending jobs', kind: 'integer' },
        hint: 'Create is refused at this many pending jobs; empty: no limit',
      },
      {
        ...{ path: 'anonymousStreams', label: 'Job streams without a token', kind: 'boolean' },
        hint: 'Anyone who knows the id of a job may watch its progress; not set: as the service is set',
      },
      {
        ...{ path: 'requireDeliveryToken', label: 'Delivery token required', kind: 'boolean' },
        hint: 'With yes, workers that send no delivery token are refused at once; not set: no',
      },
    ],
  },
];

/** Return the text of a stored setting; empty when it is not set. */
export function textOf(settings: SpaceSettings, { path, kind }: SettingField): string {
  const value = path
    .split('.')
    .reduce<unknown>((within, name) => (within as Record<string, unknown> | undefined)?.[name], settings);
  if (value === undefined) return '';
  return kind === 'json' ? JSON.stringify(value) : String(value);
}

/** Return the fields whose text is another one than that of the stored setting. */
export function changedFields(settings: SpaceSettings, draft: Draft): SettingField[] {
  const fields = SECTIONS.flatMap((section) => section.fields);
  return fields.filter((field) => (draft[field.path] ?? textOf(settings, field)) !== textOf(settings, field));
}

/**
 * Return the body that changes these fields and no others. An emptied field is null, which sets it back.
 *
 * @throws Error that names a field whose text is not JSON
 */
export function changeOf(fields: readonly SettingField[], draft: Draft): SettingsChange {
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

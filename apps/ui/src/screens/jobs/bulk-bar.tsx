import { useSignal } from '@preact/signals';
import type { Job, Status } from '@yardmaster/protocol';
import { OPERATION_ACTIONS, STATUSES } from '@yardmaster/protocol/statuses';
import type { ComponentChildren } from 'preact';
import { callPage, type Page, segment } from '../../api/client.js';
import { can, ownKey } from '../../api/session.js';
import { ActionForm, showDialog } from '../../parts/dialog.js';
import { Field, JsonInput, jsonOf, TextInput } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { notify } from '../../parts/notice.js';
import { goTo } from '../../route.js';
import { BULK_ACTIONS, type BulkAction, confirmForAll, type Filter } from '../bulk.js';
import { type JobsFilter, listQuery, operationFilter } from './filter.js';
import type { JobList } from './list.js';

/** Maximum number of jobs to export, so that they fit into the browser's memory. */
const EXPORT_MAX = 10_000;

interface BulkBarProps {
  spaceId: string;
  filter: JobsFilter;
  list: JobList;
  /** Content to show at the end of the line. */
  children: ComponentChildren;
}

/** Render buttons for the selected jobs, or for all jobs that match the filter. */
export function BulkBar({ spaceId, filter, list, children }: BulkBarProps) {
  const chosen = (list.rows.value ?? []).filter(({ id }) => list.selected.value.has(id));
  const shown = filter.statuses.length === 0 ? STATUSES : filter.statuses;
  /** Return the filter for an action; null if no job can match. */
  const filterFor = (possible: readonly Status[]): Filter | null => {
    if (chosen.length > 0) {
      const ids = chosen.filter(({ status }) => possible.includes(status)).map(({ id }) => id);
      return ids.length === 0 ? null : { status: [...possible], ids };
    }
    const statuses = shown.filter((status) => possible.includes(status));
    return statuses.length === 0 ? null : operationFilter(filter, statuses);
  };
  const isEmpty = list.rows.value?.length === 0 && list.nextCursor.value === null;
  return (
    <div class="bulk">
      {(Object.keys(BULK_ACTIONS) as BulkAction[]).map((action) => {
        const wanted = filterFor(OPERATION_ACTIONS[action]);
        const isAllowed = can('jobs:manage') && (action !== 'kill' || can('jobs:kill'));
        if (wanted === null || !isAllowed) return null;
        return (
          <button key={action} type="button" disabled={isEmpty} onClick={() => confirmForAll(spaceId, action, wanted)}>
            {BULK_ACTIONS[action].verb}{' '}
            {wanted.ids === undefined ? 'all matching jobs' : `${count(wanted.ids.length)} selected`}…
          </button>
        );
      })}
      {can('jobs:read') && (
        <button type="button" onClick={() => exportJobs(spaceId, filter)} disabled={isEmpty}>
          Export all matching jobs
        </button>
      )}
      {can('jobs:create') && (
        <button type="button" onClick={() => showDialog(<CreateForm spaceId={spaceId} />)}>
          New job…
        </button>
      )}
      {children}
    </div>
  );
}

/** Save the matching jobs as a file with one JSON object per line. */
async function exportJobs(spaceId: string, filter: JobsFilter): Promise<void> {
  const lines: string[] = [];
  const keyId = ownKey.value?.id;
  let cursor: string | null = null;
  try {
    do {
      const query = listQuery({ ...filter, cursor }, 100);
      const page: Page<object[]> = await callPage('GET', `spaces/${segment(spaceId)}/jobs`, { query });
      lines.push(...page.body.map((job) => JSON.stringify(job)));
      cursor = page.nextCursor;
      notify(`Read ${count(lines.length)} jobs…`);
    } while (cursor !== null && lines.length < EXPORT_MAX);
  } catch (error) {
    // Don't show the error after a sign-out.
    if (ownKey.value?.id === keyId) notify(`Export failed: ${(error as Error).message}`, true);
    return;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'application/x-ndjson' }));
  link.download = `${spaceId}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  notify(cursor === null ? `Exported ${count(lines.length)} jobs` : `Exported the newest ${count(lines.length)} jobs`);
}

function CreateForm({ spaceId }: { spaceId: string }) {
  const name = useSignal('');
  const payload = useSignal('');
  const options = useSignal('');
  const run = async () => {
    const further = jsonOf(options.value, 'More fields');
    if (further !== undefined && (typeof further !== 'object' || further === null || Array.isArray(further)))
      throw new Error('More fields must be a JSON object');
    const body = { name: name.value, payload: jsonOf(payload.value, 'Payload') ?? null, ...further };
    const created = await callPage<Job>('POST', `spaces/${segment(spaceId)}/jobs`, { body, isStrict: true });
    const { id } = created.body;
    goTo(['jobs', id]);
    if (created.status === 201) return `Created ${id}`;
    return `No job was created: ${id} already holds this unique key${isReplacing(further) ? '. If it was waiting, it was replaced' : ''}`;
  };
  return (
    <ActionForm title={`New job in ${spaceId}`} verb="Create" run={run}>
      <Field label="Name">
        <TextInput required maxLength={128} text={name} />
      </Field>
      <Field label="Payload" hint="A JSON object, or empty">
        <JsonInput rows={6} text={payload.value} onText={(text) => (payload.value = text)} />
      </Field>
      <Field
        label="More fields"
        hint='A JSON object with other fields of the job, such as {"delaySeconds": 60, "tags": ["eu"]}'
      >
        <JsonInput rows={2} text={options.value} onText={(text) => (options.value = text)} />
      </Field>
    </ActionForm>
  );
}

/** Whether the fields of a create allow it to replace a waiting job with the same unique key. */
const isReplacing = (fields: { unique?: { onConflict?: unknown } } | undefined) =>
  fields?.unique?.onConflict === 'replace';

import { useSignal } from '@preact/signals';
import type { Operation, OperationAction, Status } from '@yardmaster/protocol';
import { useEffect } from 'preact/hooks';
import { call, segment } from '../api/client.js';
import { ActionForm, showDialog } from '../parts/dialog.js';
import { Field, TextInput } from '../parts/form.js';
import { count, jobs, timeText } from '../parts/format.js';
import { ErrorNotice } from '../parts/notice.js';
import { goTo } from '../route.js';

/** Filter of an operation, as in the API. */
export interface Filter {
  status: Status[];
  names?: string[];
  tags?: string[];
  createdAfter?: string;
  createdBefore?: string;
  q?: string;
  ids?: string[];
}

/**
 * Return the `q` that finds jobs with exactly this error: the JSON of the error or of its message, with quotes. Without
 * the quotes, `timeout` would also find `timeout after 30 s`. A long error is found by its first 500 characters.
 */
export function inJson(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message;
  const text = JSON.stringify(typeof message === 'string' ? message : error).slice(0, 500);
  return text.replace(/[\uD800-\uDBFF]$/, ''); // Don't search for half of a character.
}

export type BulkAction = Exclude<OperationAction, 'reschedule'>;

/** Actions on many jobs at once. */
export const BULK_ACTIONS: Record<BulkAction, { verb: string; effect: string }> = {
  requeue: { verb: 'Requeue', effect: 'They return to the queue with a fresh set of attempts.' },
  kill: { verb: 'Kill', effect: 'They end immediately. Workers notice with their next heartbeat.' },
  delete: { verb: 'Delete', effect: 'Their history and logs are deleted as well. This cannot be undone.' },
};

/** Ask the user to confirm an action on all jobs that match a filter: count them, then start an operation. */
export function confirmForAll(spaceId: string, action: BulkAction, filter: Filter): void {
  showDialog(<ForAll spaceId={spaceId} action={action} filter={filter} />);
}

function ForAll({ spaceId, action, filter }: { spaceId: string; action: BulkAction; filter: Filter }) {
  const { verb, effect } = BULK_ACTIONS[action];
  const reason = useSignal('');
  const { operation, error } = useCount(spaceId, action, filter);
  const isCounted = operation !== null && operation.status !== 'running';
  const changed = operation?.changed ?? 0;
  return (
    <ActionForm
      title={isCounted ? `${verb} ${jobs(changed)} in ${spaceId}?` : `Counting matching jobs in ${spaceId}…`}
      verb={isCounted ? `${verb} ${count(changed)}` : 'Counting…'}
      isDestructive={action !== 'requeue'}
      isDisabled={!isCounted || changed === 0}
      run={async () => {
        // Exclude jobs that were created after the count.
        const counted = { createdBefore: operation?.startedAt, ...filter };
        const body = { action, filter: counted, limit: changed, ...(reason.value !== '' && { reason: reason.value }) };
        await call<Operation>('POST', `spaces/${segment(spaceId)}/operations`, { body });
        goTo(['spaces', spaceId, 'operations']);
        return `${verb} started`;
      }}
    >
      <p role="status">
        {count(changed)} found{isCounted ? '' : ` so far, ${count(operation?.left ?? 0)} left to examine`}. {effect}
      </p>
      <FilterText filter={filter} />
      <ErrorNotice>{error?.message}</ErrorNotice>
      {action === 'kill' && (
        <Field label="Reason (optional)">
          <TextInput maxLength={1000} text={reason} />
        </Field>
      )}
    </ActionForm>
  );
}

/** Count the matching jobs with a dry run, which is canceled if the dialog closes first. */
function useCount(spaceId: string, action: BulkAction, filter: Filter) {
  const operation = useSignal<Operation | null>(null);
  const error = useSignal<Error | null>(null);
  useEffect(() => {
    let isLeft = false;
    const cancel = async () => {
      if (operation.value?.status === 'running') await call('DELETE', `operations/${operation.value.id}`);
    };
    const look = async () => {
      try {
        const body = { action, filter, dryRun: true };
        operation.value = await call<Operation>('POST', `spaces/${segment(spaceId)}/operations`, { body });
        if (isLeft) await cancel();
        while (!isLeft && operation.value.status === 'running') {
          await new Promise((resolve) => setTimeout(resolve, 300));
          operation.value = await call<Operation>('GET', `operations/${operation.value.id}`);
        }
      } catch (thrown) {
        error.value = thrown as Error;
      }
    };
    look();
    return () => {
      isLeft = true;
      cancel().catch(() => undefined);
    };
  }, []);
  return { operation: operation.value, error: error.value };
}

/** Describe the jobs that a filter matches. */
export function FilterText({ filter }: { filter: Filter | Operation['filter'] }) {
  const isAll = Object.keys(filter).length === 1;
  const parts: [label: string, value: string | undefined][] = [
    ['status', filter.status.join(' or ')],
    ['name', filter.names?.join(' or ')],
    ['tag', filter.tags?.join(' and ')],
    ['created since', filter.createdAfter && timeText(filter.createdAfter)],
    ['created before', filter.createdBefore && timeText(filter.createdBefore)],
    ['whose payload, result or error contains', filter.q],
    ['', filter.ids && `${count(filter.ids.length)} selected`],
  ];
  return (
    <p class="filter-text">
      {isAll ? 'All jobs in the space with ' : 'Jobs with '}
      {parts
        .filter(([, value]) => value !== undefined)
        .map(([label, value], i) => (
          <span key={label}>
            {i > 0 && ', '}
            {label} <bdi>{value}</bdi>
          </span>
        ))}
    </p>
  );
}

import type { Operation } from '@yardmaster/protocol';
import { call, segment } from '../api/client.js';
import { can } from '../api/session.js';
import { useLoaded } from '../live/use-loaded.js';
import { confirm } from '../parts/dialog.js';
import { count, jobs } from '../parts/format.js';
import { ErrorNotice } from '../parts/notice.js';
import { Text, Time } from '../parts/show.js';
import { type Column, Table } from '../parts/table.js';
import { FilterText } from './bulk.js';
import { SpaceHeading } from './space-heading.js';

const EVERY_MS = 1000;

const COLUMNS: Column<Operation>[] = [
  { title: 'Action', isRowHeader: true, cell: ({ action }) => action },
  {
    title: 'Jobs',
    cell: ({ filter, reason }) => (
      <>
        <FilterText filter={filter} />
        {reason !== undefined && <Text>{reason}</Text>}
      </>
    ),
  },
  { title: 'Status', cell: (operation) => <OperationState operation={operation} /> },
  { title: 'Changed', isNumber: true, cell: ({ changed }) => count(changed) },
  {
    title: 'Skipped',
    isNumber: true,
    hint: 'Matched, but had changed status in the meantime, or their unique key was taken',
    cell: ({ skipped }) => count(skipped),
  },
  { title: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    title: '',
    class: 'actions',
    cell: ({ id, status }) =>
      status === 'running' &&
      can('jobs:manage') && (
        <button type="button" onClick={() => confirmCancel(id)}>
          Cancel…
        </button>
      ),
  },
];

/** Show the operations of a space, newest first. */
export function Operations({ spaceId }: { spaceId: string }) {
  const load = (signal: AbortSignal) =>
    call<{ operations: Operation[] }>('GET', `spaces/${segment(spaceId)}/operations`, { signal });
  const { value, error } = useLoaded(spaceId, load, EVERY_MS);
  // Leave out dry runs, with which pages count jobs before a confirmation.
  const operations = value.value?.operations.filter(({ dryRun }) => !dryRun);
  return (
    <>
      <SpaceHeading spaceId={spaceId} part="operations" />
      <ErrorNotice>{error.value?.message}</ErrorNotice>
      {operations?.length === 0 && (
        <p>No operations yet. To start one, requeue, kill or delete several jobs in the list of jobs.</p>
      )}
      <Table label="Operations" columns={COLUMNS} rows={operations} />
    </>
  );
}

function confirmCancel(id: string): void {
  confirm({
    title: 'Cancel this operation?',
    children: <p>Jobs that it has already changed stay changed.</p>,
    verb: 'Cancel operation',
    closeText: 'Keep running',
    isDestructive: true,
    run: async () => {
      await call('DELETE', `operations/${id}`);
      const after = await call<Operation>('GET', `operations/${id}`).catch(() => null);
      if (after === null) return 'The operation was canceled, or had already ended';
      return `The operation ${after.status === 'cancelled' ? 'was canceled' : 'had already ended'}: ${jobs(after.changed)} changed`;
    },
  });
}

function OperationState({ operation: { status, looked, left } }: { operation: Operation }) {
  if (status !== 'running') return <span class="status">{status}</span>;
  return (
    <span class="progress">
      <progress max={Math.max(1, looked + left)} value={looked} aria-label="Examined jobs" />
      <span class="number">
        {count(looked)} of {count(looked + left)}
      </span>
    </span>
  );
}

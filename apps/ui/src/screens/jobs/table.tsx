import type { ListedJob, Status } from '@yardmaster/protocol';
import { isTerminal } from '@yardmaster/protocol/statuses';
import { errorLine } from '@yardmaster/sdk/internal/error-text';
import { can } from '../../api/session.js';
import { showDialog } from '../../parts/dialog.js';
import { duration, secondsBetween } from '../../parts/format.js';
import { JobLink, ProgressBar, progressOf, StatusMark, Text, Time } from '../../parts/show.js';
import { type Column, Table } from '../../parts/table.js';
import { actionsOf } from '../job/actions.js';
import type { JobList } from './list.js';

/** Statuses of waiting jobs, whose progress is from an earlier attempt. */
const WAITING: readonly Status[] = ['scheduled', 'pending', 'delivered'];

const COLUMNS: Column<ListedJob>[] = [
  { title: 'ID', cell: ({ id }) => <JobLink id={id} /> },
  { title: 'Name', cell: ({ name }) => <Text>{name}</Text> },
  { title: 'Status', cell: ({ status }) => <StatusMark status={status} /> },
  { title: 'Attempt', isNumber: true, cell: ({ attemptNumber, maxRetries }) => `${attemptNumber}/${maxRetries + 1}` },
  {
    title: 'Progress',
    cell: (job) => <ProgressBar progress={WAITING.includes(job.status) ? undefined : progressOf(job)} label={job.id} />,
  },
  { title: 'Waited', isNumber: true, cell: waitedText },
  { title: 'Ran', isNumber: true, cell: ranText },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Ended', cell: ({ status, updatedAt }) => (isTerminal(status) ? <Time at={updatedAt} /> : '–') },
  {
    title: 'Error',
    class: 'job-error',
    cell: ({ status, error }) => error !== undefined && status !== 'completed' && <Text>{errorLine(error)}</Text>,
  },
  { title: '', class: 'actions', cell: (job) => <RowAction job={job} /> },
];

/** Show the jobs of the page as a table. */
export function JobTable({ list }: { list: JobList }) {
  const rows = list.rows.value;
  if (rows === null) return null;
  if (rows.length === 0) {
    const isWhole = list.nextCursor.value === null;
    return <p>{isWhole ? 'No matching jobs.' : 'No matches among the newer jobs. Continue with “Older”.'}</p>;
  }
  const ids = rows.map(({ id }) => id);
  const isSelected = ({ id }: ListedJob) => list.selected.value.has(id);
  const selection: Column<ListedJob> = {
    title: 'Selected',
    head: (
      <input
        type="checkbox"
        aria-label="Select all jobs on this page"
        checked={rows.every(isSelected)}
        onChange={(event) => list.select(ids, event.currentTarget.checked)}
      />
    ),
    cell: (job) => (
      <input
        type="checkbox"
        aria-label={`Select ${job.id}`}
        checked={isSelected(job)}
        onChange={(event) => list.select([job.id], event.currentTarget.checked)}
      />
    ),
  };
  return (
    <Table
      label="Jobs"
      columns={can('jobs:manage') ? [selection, ...COLUMNS] : COLUMNS}
      rows={rows}
      classOf={(job) => (isSelected(job) ? 'selected' : undefined)}
    />
  );
}

function RowAction({ job }: { job: ListedJob }) {
  const action = actionsOf(job).find(({ isInRow }) => isInRow);
  if (action === undefined) return null;
  const { title, key, form } = action;
  return (
    <button type="button" data-key={key} aria-label={`${title} ${job.id}`} onClick={() => showDialog(form(job))}>
      {title}
    </button>
  );
}

/**
 * Return how long a job has been pending, or waited for its first attempt. Lists don't contain the other waits; the page
 * of the job shows them all.
 */
function waitedText({ status, attemptNumber, createdAt, deliveredAt, updatedAt, scheduledFor }: ListedJob): string {
  if (status === 'scheduled' && scheduledFor !== undefined) return `due in ${duration(-secondsBetween(scheduledFor))}`;
  if (status === 'pending') return duration(secondsBetween(updatedAt));
  // A job without a worker that has an attempt had a worker before.
  const isFirst = attemptNumber <= (deliveredAt === null ? 0 : 1) && scheduledFor === undefined;
  return isFirst ? duration(secondsBetween(createdAt, deliveredAt ?? updatedAt)) : '–';
}

function ranText({ status, startedAt, updatedAt }: ListedJob): string {
  if (startedAt === null) return '–';
  return duration(secondsBetween(startedAt, isTerminal(status) ? updatedAt : null));
}

import type { ListedJob, Status } from '@yardmaster/protocol';
import { isTerminal } from '@yardmaster/protocol/statuses';
import { can } from '../../api/session.js';
import { errorText } from '../../live/errors.js';
import { showDialog } from '../../parts/dialog.js';
import { duration, secondsBetween } from '../../parts/format.js';
import { type Column, JobLink, ProgressBar, progressOf, StatusMark, Table, Text, Time } from '../../parts/show.js';
import { actionsOf } from '../job/actions.js';
import type { JobList } from './list.js';

const COLUMNS: Column[] = [
  ...[{ title: 'Id' }, { title: 'Name' }, { title: 'Status' }, { title: 'Attempt', isNumber: true }],
  ...[{ title: 'Progress' }, { title: 'Waited', isNumber: true }, { title: 'Ran', isNumber: true }],
  ...[{ title: 'Created' }, { title: 'Ended' }, { title: 'Error' }, { title: '' }],
];

/** Statuses of jobs that wait. The progress of such a job is of an earlier attempt. */
const WAITING: readonly Status[] = ['scheduled', 'pending', 'delivered'];

/** The jobs of the page as a table. */
export function JobTable({ list }: { list: JobList }) {
  const rows = list.rows.value;
  if (rows === null) return null;
  if (rows.length === 0) {
    const isWhole = list.nextCursor.value === null;
    return <p>{isWhole ? 'No job matches.' : 'No match among the newer jobs. Go on with the older ones.'}</p>;
  }
  const columns = maySelect()
    ? [{ title: 'Selected', head: <SelectAll list={list} rows={rows} /> }, ...COLUMNS]
    : COLUMNS;
  return (
    <Table label="Jobs" columns={columns}>
      {rows.map((job) => (
        <JobRow key={job.id} list={list} job={job} />
      ))}
    </Table>
  );
}

/** Whether the person can do something with selected jobs. */
const maySelect = () => can('jobs:manage');

function SelectAll({ list, rows }: { list: JobList; rows: readonly ListedJob[] }) {
  const ids = rows.map(({ id }) => id);
  return (
    <input
      type="checkbox"
      aria-label="Select all jobs of the page"
      checked={ids.every((id) => list.selected.value.has(id))}
      onChange={(event) => list.select(ids, event.currentTarget.checked)}
    />
  );
}

function JobRow({ list, job }: { list: JobList; job: ListedJob }) {
  const { id, name, status, attemptNumber, maxRetries, createdAt, updatedAt, error } = job;
  const isSelected = list.selected.value.has(id);
  const action = actionsOf(job).find(({ isInRow }) => isInRow);
  return (
    <tr class={isSelected ? 'selected' : undefined}>
      {maySelect() && (
        <td>
          <input
            type="checkbox"
            aria-label={`Select ${id}`}
            checked={isSelected}
            onChange={(event) => list.select([id], event.currentTarget.checked)}
          />
        </td>
      )}
      <td>
        <JobLink id={id} />
      </td>
      <td>
        <Text>{name}</Text>
      </td>
      <td>
        <StatusMark status={status} />
      </td>
      <td class="number">
        {attemptNumber}/{maxRetries + 1}
      </td>
      <td>
        <ProgressBar progress={WAITING.includes(status) ? undefined : progressOf(job)} label={id} />
      </td>
      <td class="number">{waitedText(job)}</td>
      <td class="number">{ranText(job)}</td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>{isTerminal(status) ? <Time at={updatedAt} /> : '–'}</td>
      <td class="job-error">{error !== undefined && status !== 'completed' && <Text>{errorText(error)}</Text>}</td>
      <td class="actions">
        {action && (
          <button
            type="button"
            data-key={action.key}
            aria-label={`${action.title} ${id}`}
            onClick={() => showDialog(action.form(job))}
          >
            {action.title}
          </button>
        )}
      </td>
    </tr>
  );
}

/**
 * How long a job has been pending, or waited for its first attempt. A list does not know the other waits; the page of the job
 * shows them all.
 */
function waitedText({ status, attemptNumber, createdAt, deliveredAt, updatedAt, scheduledFor }: ListedJob): string {
  if (status === 'scheduled' && scheduledFor !== undefined) return `due in ${duration(-secondsBetween(scheduledFor))}`;
  if (status === 'pending') return duration(secondsBetween(updatedAt));
  // A job without a worker has had one already if it has an attempt.
  const isFirst = attemptNumber <= (deliveredAt === null ? 0 : 1) && scheduledFor === undefined;
  return isFirst ? duration(secondsBetween(createdAt, deliveredAt ?? updatedAt)) : '–';
}

function ranText({ status, startedAt, updatedAt }: ListedJob): string {
  if (startedAt === null) return '–';
  return duration(secondsBetween(startedAt, isTerminal(status) ? updatedAt : null));
}

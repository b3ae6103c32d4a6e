import type { Scope, Status } from '@yardmaster/protocol';
import { CALLBACK_ENDS, OPERATION_ACTIONS } from '@yardmaster/protocol/statuses';
import type { ComponentChild } from 'preact';
import { can } from '../../api/session.js';
import { showDialog } from '../../parts/dialog.js';
import { CopyForm, DelayForm, DeleteForm, type JobLike, KillForm, RedeliverForm } from './action-forms.js';
import { ShareForm } from './share.js';

/** Action of a person on a job. */
export interface JobAction {
  title: string;
  /** Key of the keyboard for it. */
  key?: string;
  /** Whether rows of lists have a button for it. */
  isInRow: boolean;
  isDestructive: boolean;
  start: () => void;
}

interface Row {
  title: string;
  scopes: Scope[];
  isPossible: (status: Status, job: JobLike) => boolean;
  form: (job: JobLike) => ComponentChild;
  key?: string;
  isInRow?: boolean;
  isDestructive?: boolean;
}

const isIn = (statuses: readonly Status[]) => (status: Status) => statuses.includes(status);

const ROWS: readonly Row[] = [
  {
    title: 'Requeue …',
    scopes: ['jobs:manage'],
    isPossible: isIn(OPERATION_ACTIONS.requeue),
    form: (job) => (
      <DelayForm
        job={job}
        verb="Requeue"
        path="requeue"
        about="It waits again, and may be attempted as often as a new job."
      />
    ),
    key: 'r',
    isInRow: true,
  },
  {
    title: 'Kill …',
    scopes: ['jobs:kill'],
    isPossible: isIn(OPERATION_ACTIONS.kill),
    form: (job) => <KillForm job={job} />,
    isInRow: true,
    isDestructive: true,
  },
  {
    title: 'Reschedule …',
    scopes: ['jobs:create'],
    isPossible: isIn(OPERATION_ACTIONS.reschedule),
    form: (job) => <DelayForm job={job} verb="Reschedule" path="reschedule" about="0 seconds means now." />,
  },
  {
    title: 'Copy as new job …',
    scopes: ['jobs:create', 'jobs:read'],
    isPossible: () => true,
    form: (job) => <CopyForm job={job} />,
  },
  {
    title: 'Send callback …',
    scopes: ['jobs:create'],
    isPossible: (status, { callbackUrl, callbackOn }) =>
      typeof callbackUrl === 'string' && (callbackOn ?? (CALLBACK_ENDS as readonly Status[])).includes(status),
    form: (job) => <RedeliverForm job={job} />,
  },
  {
    title: 'Share progress …',
    scopes: ['jobs:read'],
    isPossible: () => true,
    form: ({ id }) => <ShareForm jobId={id} />,
  },
  {
    title: 'Delete …',
    scopes: ['jobs:manage'],
    isPossible: isIn(OPERATION_ACTIONS.delete),
    form: (job) => <DeleteForm job={job} />,
    isDestructive: true,
  },
];

/** Return what can be done with a job in its status, with the key of the person. */
export function actionsOf(job: JobLike): JobAction[] {
  return ROWS.filter(({ scopes, isPossible }) => scopes.every(can) && isPossible(job.status, job)).map((row) => ({
    title: row.title,
    ...(row.key !== undefined && { key: row.key }),
    isInRow: row.isInRow ?? false,
    isDestructive: row.isDestructive ?? false,
    start: () => showDialog(row.form(job)),
  }));
}

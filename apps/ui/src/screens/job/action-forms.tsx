import { useSignal } from '@preact/signals';
import type { ListedJob, Status } from '@yardmaster/protocol';
import { CallError, call, segment } from '../../api/client.js';
import { ActionForm } from '../../parts/action.js';
import { Field, JsonInput, jsonOf } from '../../parts/field.js';
import { shortId } from '../../parts/format.js';
import { Text } from '../../parts/show.js';
import { goTo, linkTo } from '../../route.js';

/** A job of a list, or with its callback. */
export type JobLike = ListedJob & { callbackUrl?: string | null; callbackOn?: Status[] | undefined };

const pathOf = ({ id }: JobLike, rest = '') => `jobs/${segment(id)}${rest}`;
const idOf = ({ id }: JobLike) => shortId(id);

/** Title of a dialog about a job. */
function JobTitle({ verb, job }: { verb: string; job: JobLike }) {
  return (
    <>
      {verb} <Text>{job.name}</Text> {idOf(job)}?
    </>
  );
}

/** Add the code of a conflict to its text: docs/api.md explains it, and the status of the job has changed meanwhile. */
async function orConflict<T>(done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof CallError && error.status === 409) error.message = `${error.message} (${error.code})`;
    throw error;
  }
}

export function DelayForm({ job, verb, path, about }: { job: JobLike; verb: string; path: string; about: string }) {
  const seconds = useSignal('0');
  const run = async () => {
    await orConflict(call('POST', pathOf(job, `/${path}`), { body: { delaySeconds: Number(seconds.value) } }));
    return `${verb}d ${idOf(job)}`;
  };
  return (
    <ActionForm title={<JobTitle verb={verb} job={job} />} verb={verb} run={run}>
      <p>{about}</p>
      <Field label="Seconds until it may be claimed">
        <input
          type="number"
          min={0}
          max={31_622_400}
          required
          value={seconds.value}
          onInput={(event) => (seconds.value = event.currentTarget.value)}
        />
      </Field>
    </ActionForm>
  );
}

export function KillForm({ job }: { job: JobLike }) {
  const reason = useSignal('');
  const run = async () => {
    await orConflict(call('POST', pathOf(job, '/kill'), { body: reason.value === '' ? {} : { reason: reason.value } }));
    return `Killed ${idOf(job)}`;
  };
  return (
    <ActionForm title={<JobTitle verb="Kill" job={job} />} verb="Kill 1 job" isDestructive run={run}>
      <p>It ends at once. A worker that runs it learns this with its next heartbeat.</p>
      <Field label="Reason (optional)">
        <input value={reason.value} onInput={(event) => (reason.value = event.currentTarget.value)} />
      </Field>
    </ActionForm>
  );
}

export function DeleteForm({ job }: { job: JobLike }) {
  const run = async () => {
    await orConflict(call('DELETE', pathOf(job)));
    if (location.hash === linkTo(['jobs', job.id])) goTo(['spaces', job.spaceId]);
    return `Deleted ${idOf(job)}`;
  };
  return (
    <ActionForm title={<JobTitle verb="Delete" job={job} />} verb="Delete 1 job" isDestructive run={run}>
      <p>The job is removed with its history and logs. This cannot be undone.</p>
    </ActionForm>
  );
}

export function RedeliverForm({ job }: { job: JobLike }) {
  const run = async () => {
    await orConflict(call('POST', pathOf(job, '/callback/redeliver')));
    return 'The callback is being sent';
  };
  return (
    <ActionForm title={<JobTitle verb="Send the callback of" job={job} />} verb="Send" run={run}>
      <p>
        To <bdi>{job.callbackUrl}</bdi>
      </p>
    </ActionForm>
  );
}

export function CopyForm({ job }: { job: JobLike }) {
  const payload = useSignal(job.payload === null ? '' : JSON.stringify(job.payload, null, 2));
  const run = async () => {
    const body = { payload: jsonOf(payload.value, 'Payload') ?? null };
    const { id } = await orConflict(call<{ id: string }>('POST', pathOf(job, '/copy'), { body }));
    goTo(['jobs', id]);
    return `Created ${shortId(id)}`;
  };
  return (
    <ActionForm title={<JobTitle verb="Copy" job={job} />} verb="Create the copy" run={run}>
      <p>The new job has the same options and tags.</p>
      <Field label="Payload">
        <JsonInput rows={8} text={payload.value} onText={(text) => (payload.value = text)} />
      </Field>
    </ActionForm>
  );
}

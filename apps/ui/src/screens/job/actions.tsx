import { useSignal } from '@preact/signals';
import type { ListedJob, Scope, Status, StreamToken } from '@yardmaster/protocol';
import { CALLBACK_ENDS, OPERATION_ACTIONS } from '@yardmaster/protocol/statuses';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';
import type { ComponentChild } from 'preact';
import { type CallOptions, call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { type Action, ActionForm } from '../../parts/dialog.js';
import { Field, JsonInput, jsonOf, SecondsSelect, TextInput } from '../../parts/form.js';
import { shortId } from '../../parts/format.js';
import { Copyable, Text } from '../../parts/show.js';
import { goTo, linkTo } from '../../route.js';

/** A job from a list, or from Get Job, which adds its callback. */
type JobLike = ListedJob & { callbackUrl?: string | null; callbackOn?: Status[] | undefined };

/** An action that a user can take on a job. */
interface JobAction {
  title: string;
  /** Scopes that the key must have; all are required. */
  scopes: readonly Scope[];
  isPossible: (job: JobLike) => boolean;
  /** Render the dialog that performs the action. */
  form: (job: JobLike) => ComponentChild;
  /** Keyboard shortcut. */
  key?: string;
  /** Whether each row of a list has a button for the action. */
  isInRow?: boolean;
  isDestructive?: boolean;
}

const hasOneOf = (statuses: readonly Status[]) => (job: JobLike) => statuses.includes(job.status);

const ACTIONS: readonly JobAction[] = [
  {
    title: 'Requeue…',
    scopes: ['jobs:manage'],
    isPossible: hasOneOf(OPERATION_ACTIONS.requeue),
    form: (job) => <DelayForm job={job} verb="Requeue" about="It returns to the queue with a fresh set of attempts." />,
    key: 'r',
    isInRow: true,
  },
  {
    title: 'Kill…',
    scopes: ['jobs:kill'],
    isPossible: hasOneOf(OPERATION_ACTIONS.kill),
    form: (job) => <KillForm job={job} />,
    isInRow: true,
    isDestructive: true,
  },
  {
    title: 'Reschedule…',
    scopes: ['jobs:create'],
    isPossible: hasOneOf(OPERATION_ACTIONS.reschedule),
    form: (job) => <DelayForm job={job} verb="Reschedule" about="0 seconds means now." />,
  },
  {
    title: 'Copy as new job…',
    scopes: ['jobs:create', 'jobs:read'],
    isPossible: () => true,
    form: (job) => <CopyForm job={job} />,
  },
  {
    title: 'Resend callback…',
    scopes: ['jobs:create'],
    isPossible: ({ status, callbackUrl, callbackOn }) =>
      typeof callbackUrl === 'string' && (callbackOn ?? (CALLBACK_ENDS as readonly Status[])).includes(status),
    form: (job) => <RedeliverForm job={job} />,
  },
  {
    title: 'Share progress…',
    scopes: ['jobs:read'],
    isPossible: () => true,
    form: ({ id }) => <ShareForm jobId={id} />,
  },
  {
    title: 'Delete…',
    scopes: ['jobs:manage'],
    isPossible: hasOneOf(OPERATION_ACTIONS.delete),
    form: (job) => <DeleteForm job={job} />,
    isDestructive: true,
  },
];

/** Return the actions that the status of a job and the user's key allow. */
export const actionsOf = (job: JobLike): JobAction[] =>
  ACTIONS.filter(({ scopes, isPossible }) => scopes.every(can) && isPossible(job));

interface JobFormProps extends Omit<Action, 'title' | 'verb'> {
  job: JobLike;
  /** Start of the title, such as `Kill`. */
  verb: string;
  /** Text of the button. Default: the verb. */
  button?: string;
}

function JobForm({ job, verb, button = verb, run, ...others }: JobFormProps) {
  /** Add the error code to the message of a conflict, so that the user can look it up in docs/errors.md. */
  const runWithCode = async () => {
    try {
      return await run();
    } catch (error) {
      if (error instanceof YardmasterError && error.status === 409) error.message = `${error.message} (${error.code})`;
      throw error;
    }
  };
  const title = (
    <>
      {verb} <Text>{job.name}</Text> {shortId(job.id)}?
    </>
  );
  return <ActionForm {...others} title={title} verb={button} run={runWithCode} />;
}

/** Call an endpoint of a job, such as `kill`. */
const post = <T,>({ id }: JobLike, endpoint: string, options?: CallOptions) =>
  call<T>('POST', `jobs/${segment(id)}/${endpoint}`, options);

function DelayForm({ job, verb, about }: { job: JobLike; verb: 'Requeue' | 'Reschedule'; about: string }) {
  const seconds = useSignal('0');
  const run = async () => {
    await post(job, verb.toLowerCase(), { body: { delaySeconds: Number(seconds.value) } });
    return `${verb}d ${shortId(job.id)}`;
  };
  return (
    <JobForm job={job} verb={verb} run={run}>
      <p>{about}</p>
      <Field label="Delay in seconds">
        <TextInput type="number" min={0} max={31_622_400} required text={seconds} />
      </Field>
    </JobForm>
  );
}

function KillForm({ job }: { job: JobLike }) {
  const reason = useSignal('');
  const run = async () => {
    await post(job, 'kill', { body: reason.value === '' ? {} : { reason: reason.value } });
    return `Killed ${shortId(job.id)}`;
  };
  return (
    <JobForm job={job} verb="Kill" button="Kill 1 job" isDestructive run={run}>
      <p>It ends immediately. Its worker notices with the next heartbeat.</p>
      <Field label="Reason (optional)">
        <TextInput text={reason} />
      </Field>
    </JobForm>
  );
}

function DeleteForm({ job }: { job: JobLike }) {
  const run = async () => {
    await call('DELETE', `jobs/${segment(job.id)}`);
    if (location.hash === linkTo(['jobs', job.id])) goTo(['spaces', job.spaceId]);
    return `Deleted ${shortId(job.id)}`;
  };
  return (
    <JobForm job={job} verb="Delete" button="Delete 1 job" isDestructive run={run}>
      <p>Its history and logs are deleted as well. This cannot be undone.</p>
    </JobForm>
  );
}

function RedeliverForm({ job }: { job: JobLike }) {
  const run = async () => {
    await post(job, 'callback/redeliver');
    return 'Resending the callback';
  };
  return (
    <JobForm job={job} verb="Resend the callback of" button="Resend" run={run}>
      <p>
        To <bdi>{job.callbackUrl}</bdi>
      </p>
    </JobForm>
  );
}

function CopyForm({ job }: { job: JobLike }) {
  const payload = useSignal(job.payload === null ? '' : JSON.stringify(job.payload, null, 2));
  const run = async () => {
    const body = { payload: jsonOf(payload.value, 'Payload') ?? null };
    const { id } = await post<{ id: string }>(job, 'copy', { body });
    goTo(['jobs', id]);
    return `Created ${shortId(id)}`;
  };
  return (
    <JobForm job={job} verb="Copy" button="Create copy" run={run}>
      <p>The new job has the same options and tags.</p>
      <Field label="Payload">
        <JsonInput rows={8} text={payload.value} onText={(text) => (payload.value = text)} />
      </Field>
    </JobForm>
  );
}

const LINK_VALID = [
  { seconds: 900, title: '15 minutes' },
  { seconds: 3600, title: '1 hour' },
  { seconds: 86_400, title: '1 day' },
];

/** Create a link that shows the progress of one job, and nothing else, to people without a key. */
function ShareForm({ jobId }: { jobId: string }) {
  const seconds = useSignal(3600);
  const link = useSignal('');
  const run = async () => {
    const body = { scope: 'jobs:read:progress', jobIds: [jobId], expiresInSeconds: seconds.value };
    const { token } = await call<StreamToken>('POST', 'stream-tokens', { body });
    link.value = String(new URL(linkTo(['progress', jobId], { token }), location.href));
    return '';
  };
  return (
    <ActionForm
      title="Share the progress of this job?"
      verb={link.value === '' ? 'Create link' : 'Create another link'}
      closeText={link.value === '' ? 'Cancel' : 'Close'}
      run={run}
    >
      <p>Until the link expires, anyone who has it can see the progress of this job, but no payload, result or logs.</p>
      <Field label="Valid for">
        <SecondsSelect seconds={seconds} options={LINK_VALID} />
      </Field>
      {link.value !== '' && <Copyable text={link.value} label="link" />}
    </ActionForm>
  );
}

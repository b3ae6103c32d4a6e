import { useSignal } from '@preact/signals';
import type { JobWithEvents, StreamMessage } from '@yardmaster/protocol';
import { isTerminal } from '@yardmaster/protocol/statuses';
import { errorLine, errorTrace } from '@yardmaster/sdk/internal/error-text';
import { useEffect } from 'preact/hooks';
import { call, segment } from '../../api/client.js';
import { applyMessage, isEvent } from '../../live/apply-message.js';
import { useStream } from '../../live/stream.js';
import { useLoaded } from '../../live/use-loaded.js';
import { showDialog } from '../../parts/dialog.js';
import { ErrorNotice } from '../../parts/notice.js';
import { Copyable, ProgressBar, progressOf, SpaceLink, Stages, StatusMark, Text, Time } from '../../parts/show.js';
import { linkTo } from '../../route.js';
import { actionsOf } from './actions.js';
import { AttemptTimeline } from './attempt-timeline.js';
import { Data, Facts, History } from './data.js';
import { Logs } from './logs.js';

/** Interval between reads of a job that has ended: it has no stream, but may get callbacks or be requeued. */
const ENDED_EVERY_MS = 3000;

/** Maximum number of events to keep, the default of the service; and to read in one call. */
const EVENTS_MAX = 1000;
const EVENTS_AT_ONCE = 100;

/** Show one job, live. */
export function JobScreen({ jobId }: { jobId: string }) {
  const load = async (signal: AbortSignal): Promise<JobWithEvents> => {
    const known = value.value?.events ?? [];
    const loaded = await readJob(jobId, known, signal);
    // Known events are gone, for example after a restore from a backup.
    if (seqOf(loaded.events) < seqOf(known)) return loaded;
    // The stream may have delivered newer events in the meantime.
    return seqOf(loaded.events) < seqOf(value.value?.events) ? load(signal) : loaded;
  };
  const isEnded = useSignal(false);
  const { value, error, reload } = useLoaded(jobId, load, isEnded.value ? ENDED_EVERY_MS : undefined);
  /** Increases whenever the log may have changed. */
  const logChanges = useSignal(0);
  const job = value.value;
  useEffect(() => {
    isEnded.value = job !== null && isTerminal(job.status);
  }, [job]);

  const onMessages = (messages: StreamMessage[]) => {
    let changed = value.value;
    for (const message of messages) {
      if ('missed' in message && message.missed) reload();
      if (changed !== null && isEvent(message)) changed = withEvent(changed, message);
    }
    value.value = changed;
    // The stream doesn't report appends from before `init` or during a lost connection.
    if (messages.some(({ type }) => CHANGES_LOGS.has(type))) logChanges.value++;
    // Read fields that events lack, such as the times after a requeue.
    if (messages.some(({ type }) => RELOADED.has(type))) reload();
  };
  const stream = {
    path: `realtime/${segment(jobId)}`,
    subject: { jobIds: [jobId] },
    query: () => ({ since: seqOf(value.value?.events) }),
    onMessages,
  };
  // The stream continues after the history, so load the history first.
  // A stream ends with its job, and a requeued job needs a new one.
  useStream(`${jobId} ${isEnded.value}`, job === null ? null : stream);
  if (job === null) return <ErrorNotice>{error.value?.message}</ErrorNotice>;
  return (
    <>
      <div class="heading">
        <h1>
          <Text>{job.name}</Text> <StatusMark status={job.status} />
        </h1>
        <p>
          attempt {job.attemptNumber} of {job.maxRetries + 1} in <SpaceLink spaceId={job.spaceId} />
        </p>
      </div>
      <ErrorNotice>{error.value?.message}</ErrorNotice>
      <p>
        <Copyable text={job.id} label="ID" />
      </p>
      <Actions job={job} />
      <Why job={job} />
      {job.progress && <ProgressBar progress={progressOf(job)} label={job.id} />}
      <Stages progress={job.progress} />
      <AttemptTimeline events={job.events} />
      <Facts job={job} />
      <div class="columns">
        <Data title="Payload" value={job.payload} />
        <Data title="Checkpoint" value={latestCheckpoint(job)} />
        <Data title="Result" value={job.result} />
        {typeof job.error === 'object' && (
          <Data title="Error" value={job.error} text={errorTrace(job.error) ?? undefined} />
        )}
      </div>
      <Logs jobId={jobId} changes={logChanges} />
      <History events={job.events} />
    </>
  );
}

/** Types of events after which to reload the job. */
const RELOADED: ReadonlySet<string> = new Set([
  ...['delivered', 'completed', 'dead', 'killed', 'requeued', 'replaced', 'rescheduled'],
]);

/** Types of messages after which there may be new log entries. */
const CHANGES_LOGS: ReadonlySet<string> = new Set(['init', 'logs_appended', 'completed', 'dead', 'killed']);

type Events = JobWithEvents['events'];

/** Return the seq of the newest event; 0 before the job is loaded. Event IDs have the form `<jobId>.<seq>`. */
const seqOf = (events: Events = []) => Number(events.at(-1)?.id.split('.').at(-1) ?? 0);

/** Return the first event, `created`, and the newest events. */
const newestOf = ([first, ...others]: Events): Events => (first ? [first, ...others.slice(1 - EVENTS_MAX)] : []);

/** Read a job, with only the unknown part of its history. */
async function readJob(jobId: string, known: Events, signal: AbortSignal): Promise<JobWithEvents> {
  let events = known;
  for (;;) {
    const last = events.at(-1);
    // Read the last known event again, to check that the history is still the same.
    const query = { eventsAfter: Math.max(0, seqOf(events) - 1), eventsLimit: EVENTS_AT_ONCE };
    const job = await call<JobWithEvents>('GET', `jobs/${segment(jobId)}`, { query, signal });
    const [first, ...newer] = job.events;
    const isSame = last?.id === first?.id && last?.createdAt === first?.createdAt;
    if (last !== undefined && !isSame) events = [];
    else events = newestOf(last === undefined ? job.events : [...events, ...newer]);
    if (events.length > 0 && job.events.length < EVENTS_AT_ONCE) return { ...job, events };
  }
}

/** Return a job after an event of its stream, which is added to its history. */
function withEvent(job: JobWithEvents, message: Parameters<typeof applyMessage>[1]): JobWithEvents {
  const { type, jobId, data, timestamp, seq } = message as typeof message & { seq?: number };
  // Ephemeral events and log appends are not part of the history.
  if (seq === undefined || type === 'logs_appended' || seq <= seqOf(job.events)) return job;
  const changed = applyMessage(job, message);
  const event = { id: `${jobId}.${seq}`, jobId, spaceId: job.spaceId, type, data, createdAt: timestamp };
  return { ...changed, events: newestOf([...job.events, event as Events[number]]) };
}

/** Show why a job ended or why an attempt failed. */
function Why({ job: { status, error, events } }: { job: JobWithEvents }) {
  if (status === 'killed') {
    const kill = events.findLast(({ type }) => type === 'killed');
    const reason = (kill?.data as { reason?: string | null } | undefined)?.reason;
    return (
      <p class="notice">
        Killed{kill && ' at '}
        {kill && <Time at={kill.createdAt} />}: <bdi>{reason ?? 'no reason given'}</bdi>
      </p>
    );
  }
  if (error === undefined) return null;
  const isOfLatest = status === 'pending' || status === 'scheduled' || status === 'dead';
  return (
    <p class={isOfLatest ? 'notice bad' : 'notice'}>
      {status === 'dead' ? 'Dead: ' : `${isOfLatest ? 'The latest' : 'An earlier'} attempt failed: `}
      <bdi>{errorLine(error)}</bdi>
    </p>
  );
}

const latestCheckpoint = ({ events }: JobWithEvents): unknown =>
  events.findLast(({ type }) => type === 'checkpoint')?.data;

function Actions({ job }: { job: JobWithEvents }) {
  return (
    <p class="bulk">
      {actionsOf(job).map(({ title, key, isDestructive, form }) => (
        <button
          key={title}
          type="button"
          class={isDestructive ? 'danger' : undefined}
          data-key={key}
          onClick={() => showDialog(form(job))}
        >
          {title}
        </button>
      ))}
      {job.copyOf !== undefined && (
        <a href={linkTo(['jobs', job.copyOf])}>
          Copy of another job, created <Time at={job.createdAt} />
        </a>
      )}
    </p>
  );
}

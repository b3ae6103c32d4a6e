import { useSignal } from '@preact/signals';
import type { JobWithEvents } from '@yardmaster/protocol';
import { isTerminal } from '@yardmaster/protocol/statuses';
import type { ComponentChildren } from 'preact';
import { count, duration } from '../../parts/format.js';
import { Text, Time } from '../../parts/show.js';
import { type Column, Table } from '../../parts/table.js';
import { linkTo } from '../../route.js';

/** Number of characters to show at first, so that a large payload doesn't slow down the page. */
const CHARACTERS_SHOWN = 4000;

interface DataProps {
  title: string;
  value: unknown;
  /** Text to show instead of the value. */
  text?: string | undefined;
}

/** Show a JSON value of a job, or a text about it; nothing for null. */
export function Data({ title, value, text = JSON.stringify(value, null, 2) }: DataProps) {
  const isWhole = useSignal(false);
  if (value === null || value === undefined) return null;
  const isCut = text.length > CHARACTERS_SHOWN && !isWhole.value;
  return (
    <section class="data">
      <h2>{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} dir="ltr">
        {isCut ? `${text.slice(0, CHARACTERS_SHOWN)}…` : text}
      </pre>
      {isCut && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {count(text.length)} characters
        </button>
      )}
    </section>
  );
}

/** Show the other fields of a job. Fields that it lacks are omitted. */
export function Facts({ job }: { job: JobWithEvents }) {
  const facts: [name: string, value: ComponentChildren][] = [
    ['Created', <Time at={job.createdAt} />],
    ['Worker', job.workerId && <Text>{job.workerId}</Text>],
    ['Scheduled for', job.scheduledFor && <Time at={job.scheduledFor} />],
    ['Ended', isTerminal(job.status) && <Time at={job.updatedAt} />],
    ['Heartbeat timeout', duration(job.timeoutSeconds)],
    ['Max run time', job.maxRunSeconds !== undefined && duration(job.maxRunSeconds)],
    ['Start within', job.startWithinSeconds !== undefined && duration(job.startWithinSeconds)],
    ['Priority', job.priority !== undefined && `${job.priority} s`],
    ['Retry', job.retry && <Text>{JSON.stringify(job.retry)}</Text>],
    ['Unique key', job.unique && <Text>{JSON.stringify(job.unique)}</Text>],
    ['Callback', callbackText(job)],
    [
      'Tags',
      job.tags?.map((tag) => (
        <a key={tag} class="tag" href={linkTo(['spaces', job.spaceId], { tag })}>
          <Text>{tag}</Text>
        </a>
      )),
    ],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== false && value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Show the URL of the callback, and the outcome of its latest attempt. */
function callbackText({ callbackUrl, events }: JobWithEvents): ComponentChildren {
  if (callbackUrl === null) return null;
  const since = events.findLastIndex(({ type }) => type === 'requeued') + 1; // Earlier callbacks belong to an earlier end of the job.
  const latest = events.slice(since).findLast(({ type }) => type === 'callback_sent' || type === 'callback_failed');
  const data = latest?.data as CallbackAttempt | undefined;
  return (
    <>
      <Text>{callbackUrl}</Text>: <bdi>{data === undefined ? 'not sent yet' : attemptText(data)}</bdi>
    </>
  );
}

interface CallbackAttempt {
  attempt: number;
  statusCode?: number;
  error?: string;
  willRetry: boolean;
}

function attemptText({ attempt, statusCode, error, willRetry }: CallbackAttempt): string {
  const outcome = statusCode !== undefined ? `got ${statusCode}` : `failed: ${error}`;
  return `attempt ${attempt} ${outcome}${willRetry ? '; will be retried' : ''}`;
}

const HISTORY: Column<JobWithEvents['events'][number]>[] = [
  { title: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Event', cell: ({ type }) => type },
  {
    title: 'Data',
    class: 'why',
    cell: ({ data }) => data !== null && <Text max={500}>{JSON.stringify(data)}</Text>,
  },
];

/** Number of events to show at first. */
const EVENTS_SHOWN = 50;

/** Show the events of a job, newest first. */
export function History({ events }: { events: JobWithEvents['events'] }) {
  const isWhole = useSignal(false);
  const shown = isWhole.value ? events : events.slice(-EVENTS_SHOWN);
  return (
    <section>
      <h2>History</h2>
      <Table label="History" columns={HISTORY} rows={shown.toReversed()} />
      {shown.length < events.length && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {count(events.length)} events
        </button>
      )}
    </section>
  );
}

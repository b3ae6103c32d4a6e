import { useSignal } from '@preact/signals';
import type { JobWithEvents, ListedJob, Scope } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { can, keyText, ownKey } from '../../api/session.js';
import { isEvent } from '../../live/apply-message.js';
import { useStream } from '../../live/stream.js';
import { Field, TextInput } from '../../parts/form.js';
import { CopyButton } from '../../parts/show.js';
import { linkTo } from '../../route.js';
import { afterEvent, type FirstJob, JOB_NAME, NO_JOB, quoted, stepsOf } from './steps.js';

/** The commands for the life of a first job. Each is marked as done once its event has happened. */
export function FirstRun({ onLeave }: { onLeave?: () => void }) {
  const spaceId = ownKey.value?.spaceId ?? 'demo';
  const job = useFirstJob(spaceId);
  const deliveryToken = useSignal('');
  const { id, done } = job;
  const steps = stepsOf({ spaceId, jobId: id, deliveryToken: deliveryToken.value.trim() });
  return (
    <>
      <h1>Run a first job</h1>
      <p>
        {onLeave === undefined && 'No space has jobs yet. '}Paste these commands into a terminal with a shell such as
        bash. A space exists as soon as a job is created in it; these use the space <bdi>{spaceId}</bdi>.
      </p>
      <MissingScopes />
      <p>First, give the shell your key. The copy has the key itself.</p>
      <KeyCommand />
      <ol>
        {steps.map(({ event, title, text, command }, index) => (
          <li key={event}>
            <h2>
              {title} {done.includes(event) && <span class="ok">done</span>}
            </h2>
            <p>{text}</p>
            <Command command={command} label={`the command of step ${index + 1}`} />
            {event === 'created' && id === null && (
              <p>The commands below get the id of the job as soon as it is created.</p>
            )}
            {event === 'delivered' && (
              <Field
                label="deliveryToken of the response (optional)"
                hint="It is added to the commands below. A call with it changes the job only while this worker has it."
              >
                <TextInput autocomplete="off" spellcheck={false} text={deliveryToken} />
              </Field>
            )}
          </li>
        ))}
      </ol>
      <p role="status">
        {done.length} of {steps.length} done.
      </p>
      <p class="buttons">
        {id !== null && <a href={linkTo(['jobs', id])}>Show the job</a>}
        {onLeave !== undefined && (
          <button type="button" onClick={onLeave}>
            Show the spaces
          </button>
        )}
      </p>
    </>
  );
}

const OF_WORKERS: readonly Scope[] = ['jobs:poll', 'jobs:ack', 'jobs:progress', 'jobs:complete'];

/** Say which scopes the commands need that the key lacks. */
function MissingScopes() {
  const isWorker = can('jobs:worker') || OF_WORKERS.every(can);
  const missing = [...(can('jobs:create') ? [] : ['jobs:create']), ...(isWorker ? [] : ['jobs:worker'])];
  if (missing.length === 0) return null;
  return (
    <p class="notice">
      Your key lacks {missing.join(' and ')}, so some of these commands are refused. Use another key for them.
    </p>
  );
}

/** Follow the first job by the stream of the space. */
function useFirstJob(spaceId: string): FirstJob {
  const job = useSignal(NO_JOB);
  /** Events before the stream was open, or while it was broken, are missing, so they are read. */
  const catchUp = async (): Promise<void> => {
    const before = job.value;
    const id = before.id ?? (await newestJobId(spaceId));
    if (id === null) return;
    const { events } = await call<JobWithEvents>('GET', `jobs/${segment(id)}`);
    // An event came meanwhile, which this response may lack.
    if (job.value !== before) return catchUp();
    job.value = events.reduce((known, { type }) => afterEvent(known, id, type), NO_JOB);
  };
  useStream(`first run of ${spaceId}`, {
    path: `realtime/spaces/${segment(spaceId)}`,
    subject: { spaceId },
    query: () => ({ name: JOB_NAME }),
    onMessages: (messages) => {
      for (const message of messages) {
        if (isEvent(message)) job.value = afterEvent(job.value, message.jobId, message.type);
      }
      // A failure leaves the marks as they are: the next event or connection corrects them.
      if (messages.some(({ type }) => type === 'init')) catchUp().catch(() => undefined);
    },
  });
  return job.value;
}

async function newestJobId(spaceId: string): Promise<string | null> {
  const query = { name: JOB_NAME, limit: 1 };
  const jobs = await call<ListedJob[]>('GET', `spaces/${segment(spaceId)}/jobs`, { query });
  return jobs[0]?.id ?? null;
}

interface CommandProps {
  /** What the button copies. */
  command: string;
  /** What is shown, if that is another text. */
  shown?: string;
  /** Names the command, for the button: `step 1`. */
  label: string;
}

/** Show a command of several lines with a button that copies it. */
function Command({ command, shown = command, label }: CommandProps) {
  return (
    <div class="command">
      <pre>
        <code>{shown}</code>
      </pre>
      <CopyButton text={command} label={label} />
    </div>
  );
}

/** The line that gives the shell the key. It is masked until the person shows it; the copy has the key itself. */
function KeyCommand() {
  const isShown = useSignal(false);
  const line = `KEY=${quoted(keyText())}`;
  return (
    <>
      <Command command={line} shown={isShown.value ? line : "KEY='••••••••'"} label="the line with your key" />
      <p class="buttons">
        <button type="button" onClick={() => (isShown.value = !isShown.value)}>
          {isShown.value ? 'Hide the key' : 'Show the key'}
        </button>
      </p>
    </>
  );
}

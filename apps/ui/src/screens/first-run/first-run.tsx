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

/** Show the commands that create, claim and complete a first job. Each is marked as done once its event arrives. */
export function FirstRun({ onLeave }: { onLeave?: () => void }) {
  const spaceId = ownKey.value?.spaceId ?? 'demo';
  const job = useFirstJob(spaceId);
  const deliveryToken = useSignal('');
  const { id, done } = job;
  const steps = stepsOf({ spaceId, jobId: id, deliveryToken: deliveryToken.value.trim() });
  return (
    <>
      <h1>Run your first job</h1>
      <p>
        {onLeave === undefined && 'There are no jobs yet. '}Paste these commands into a terminal. They use the space{' '}
        <bdi>{spaceId}</bdi>, which is created with its first job.
      </p>
      <MissingScopes />
      <p>First, set your key in the shell. The Copy button copies the key itself, even while it is hidden.</p>
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
              <p>Once the job is created, its ID appears in the commands below.</p>
            )}
            {event === 'delivered' && (
              <Field
                label="deliveryToken from the response (optional)"
                hint="Added to the commands below, which then change the job only while this worker holds it."
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
            Show spaces
          </button>
        )}
      </p>
    </>
  );
}

const OF_WORKERS: readonly Scope[] = ['jobs:poll', 'jobs:ack', 'jobs:progress', 'jobs:complete'];

/** Show which of the scopes needed by the commands the key lacks. */
function MissingScopes() {
  const isWorker = can('jobs:worker') || OF_WORKERS.every(can);
  const missing = [...(can('jobs:create') ? [] : ['jobs:create']), ...(isWorker ? [] : ['jobs:worker'])];
  if (missing.length === 0) return null;
  return (
    <p class="notice">
      Your key lacks {missing.join(' and ')}, so the service refuses some of these commands. Use another key for them.
    </p>
  );
}

/** Follow the first job through the stream of the space. */
function useFirstJob(spaceId: string): FirstJob {
  const job = useSignal(NO_JOB);
  /** Read the events from before the stream opened, or while it was disconnected. */
  const catchUp = async (): Promise<void> => {
    const before = job.value;
    const id = before.id ?? (await newestJobId(spaceId));
    if (id === null) return;
    const { events } = await call<JobWithEvents>('GET', `jobs/${segment(id)}`);
    // This response may lack an event that arrived in the meantime.
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
      // If this fails, the next event or reconnect corrects which steps are marked as done.
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
  /** Text to copy. */
  command: string;
  /** Text to show, if different. */
  shown?: string;
  /** Name of the command for screen readers, such as `the command of step 1`. */
  label: string;
}

/** Show a command with a button that copies it. */
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

/** Show the command that sets the key in the shell. The key is masked until the user reveals it, but always copied. */
function KeyCommand() {
  const isShown = useSignal(false);
  const line = `export YARDMASTER_API_KEY=${quoted(keyText())}`;
  return (
    <>
      <Command
        command={line}
        shown={isShown.value ? line : "export YARDMASTER_API_KEY='••••••••'"}
        label="the line with your key"
      />
      <p class="buttons">
        <button type="button" onClick={() => (isShown.value = !isShown.value)}>
          {isShown.value ? 'Hide the key' : 'Show the key'}
        </button>
      </p>
    </>
  );
}

import { WAITS_AGAIN_EVENTS } from '@yardmaster/protocol/transitions';
import { urlOf } from '../../api/client.js';

/** Name of the job of the first run. Jobs of other names in the space do not matter. */
export const JOB_NAME = 'hello';

/** Events of the first job, in their order; each is the effect of one command. */
const EVENTS = ['created', 'delivered', 'acked', 'progress', 'completed'] as const;
type StepEvent = (typeof EVENTS)[number];

/** What is known of the first job. */
export interface FirstJob {
  /** Null before a job is created. */
  id: string | null;
  done: readonly StepEvent[];
}

export const NO_JOB: FirstJob = { id: null, done: [] };

/** After these the job has ended without being completed, so another one must be created. */
const ENDED: readonly string[] = ['dead', 'killed'];

/** Return what is known after an event. The job that is delivered is followed, also when another one was created first. */
export function afterEvent(job: FirstJob, id: string, type: string): FirstJob {
  const isNew = job.id === null && type === 'created';
  const isOther = job.id !== id && type === 'delivered' && !job.done.includes('delivered');
  if (isNew || isOther) return { id, done: isNew ? ['created'] : ['created', 'delivered'] };
  if (job.id !== id) return job;
  if (ENDED.includes(type)) return NO_JOB;
  if (WAITS_AGAIN_EVENTS.has(type)) return { id, done: ['created'] }; // The commands of a worker must be repeated.
  const event = EVENTS.find((one) => one === type);
  return event === undefined || job.done.includes(event) ? job : { id, done: [...job.done, event] };
}

/** A command of the first run. */
interface Step {
  event: StepEvent;
  title: string;
  /** What the command does. */
  text: string;
  command: string;
}

interface StepOptions {
  spaceId: string;
  /** Null while it is unknown. The commands then use the variable of the shell. */
  jobId: string | null;
  /** Empty when it is unknown. It is optional in each call. */
  deliveryToken: string;
}

/** Return the commands of the first run. */
export function stepsOf({ spaceId, jobId, deliveryToken }: StepOptions): Step[] {
  const id = jobId ?? '$JOB';
  const token = deliveryToken === '' ? '' : ` \\\n  -H ${quoted(`x-delivery-token: ${deliveryToken}`)}`;
  return [
    {
      ...{ event: 'created', title: 'Create a job' },
      text: 'The response has the id of the job. The job is pending: it waits for a worker.',
      command: curl(`spaces/${spaceId}/jobs`, {
        ...{ name: JOB_NAME, payload: { to: 'world' } },
        timeoutSeconds: 3600, // The default of 300 is too short for a person who reads.
      }),
    },
    {
      ...{ event: 'delivered', title: 'Claim it, as a worker' },
      text: 'The poll returns the job with its payload. No other worker gets it now.',
      command: curl(`spaces/${spaceId}/jobs/poll`, {
        types: [JOB_NAME],
        ackWithinSeconds: 3600, // Instead of 30, for the same reason.
      }),
    },
    {
      ...{ event: 'acked', title: 'Ack it' },
      text: 'The ack says that the work has begun. The job is running.',
      command: curl(`jobs/${id}/ack`, {}, token),
    },
    {
      ...{ event: 'progress', title: 'Report progress' },
      text: 'Each report is also a heartbeat. Everyone who watches the job sees it at once.',
      command: curl(`jobs/${id}/progress`, { percent: 40, message: 'Looking for the world' }, token),
    },
    {
      ...{ event: 'completed', title: 'Complete it' },
      text: 'The job ends with its result.',
      command: curl(`jobs/${id}/complete`, { result: { said: 'hello, world' } }, token),
    },
  ];
}

function curl(path: string, body: object, token = ''): string {
  const head = `curl -s "${urlOf(path).href}" \\\n  -H "x-api-key: $KEY" -H 'content-type: application/json'`;
  return `${head}${token} \\\n  -d ${quoted(JSON.stringify(body))}`;
}

/** Quote a text for a shell. Nothing within single quotes has a meaning there. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

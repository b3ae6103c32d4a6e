import { WAITS_AGAIN_EVENTS } from '@yardmaster/protocol/transitions';
import { urlOf } from '../../api/client.js';

/** Name of the first job. Jobs with other names in the space are ignored. */
export const JOB_NAME = 'hello';

/** Events of the first job, in order. Each is the effect of one command. */
const EVENTS = ['created', 'delivered', 'acked', 'progress', 'completed'] as const;
type StepEvent = (typeof EVENTS)[number];

/** The known state of the first job. */
export interface FirstJob {
  /** Null before a job is created. */
  id: string | null;
  done: readonly StepEvent[];
}

export const NO_JOB: FirstJob = { id: null, done: [] };

/** Events after which another job must be created, because this one ended without completing. */
const ENDED: readonly string[] = ['dead', 'killed'];

/** Return the state after an event. It follows the job that is delivered, even if another one was created first. */
export function afterEvent(job: FirstJob, id: string, type: string): FirstJob {
  const isNew = job.id === null && type === 'created';
  const isOther = job.id !== id && type === 'delivered' && !job.done.includes('delivered');
  if (isNew || isOther) return { id, done: isNew ? ['created'] : ['created', 'delivered'] };
  if (job.id !== id) return job;
  if (ENDED.includes(type)) return NO_JOB;
  if (WAITS_AGAIN_EVENTS.has(type)) return { id, done: ['created'] }; // The worker's commands must be run again.
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
  /** Null while unknown; the commands then use a shell variable. */
  jobId: string | null;
  /** Empty while unknown. It is optional in each call. */
  deliveryToken: string;
}

/** Return the commands of the first run. */
export function stepsOf({ spaceId, jobId, deliveryToken }: StepOptions): Step[] {
  const id = jobId ?? '$JOB';
  const token = deliveryToken === '' ? '' : ` \\\n  -H ${quoted(`x-delivery-token: ${deliveryToken}`)}`;
  return [
    {
      ...{ event: 'created', title: 'Create a job' },
      text: 'The response contains the ID of the job. The job is pending: it waits for a worker.',
      command: curl(`spaces/${spaceId}/jobs`, {
        ...{ name: JOB_NAME, payload: { to: 'world' } },
        timeoutSeconds: 3600, // The default of 300 is too short for somebody who is still reading.
      }),
    },
    {
      ...{ event: 'delivered', title: 'Claim it as a worker' },
      text: 'The poll returns the job with its payload. No other worker can claim it now.',
      command: curl(`spaces/${spaceId}/jobs/poll`, {
        types: [JOB_NAME],
        ackWithinSeconds: 3600, // The default is 30.
      }),
    },
    {
      ...{ event: 'acked', title: 'Ack it' },
      text: 'The ack means “I’ve started.” The job is now running.',
      command: curl(`jobs/${id}/ack`, {}, token),
    },
    {
      ...{ event: 'progress', title: 'Report progress' },
      text: 'Each report is also a heartbeat. Everyone who watches the job sees it immediately.',
      command: curl(`jobs/${id}/progress`, { percent: 40, message: 'Looking for the world' }, token),
    },
    {
      ...{ event: 'completed', title: 'Complete it' },
      text: 'The job ends, and its result is stored.',
      command: curl(`jobs/${id}/complete`, { result: { said: 'hello, world' } }, token),
    },
  ];
}

function curl(path: string, body: object, token = ''): string {
  const head = `curl -s "${urlOf(path).href}" \\\n  -H "x-api-key: $YARDMASTER_API_KEY" -H 'content-type: application/json'`;
  return `${head}${token} \\\n  -d ${quoted(JSON.stringify(body))}`;
}

/** Quote a text for a shell, in single quotes, within which no character is special. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

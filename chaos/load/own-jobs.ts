import { partitionOf } from '@yardmaster/store';
import type { Operation } from '../checker/history.js';
import type { FaultContext } from '../runs/fault.js';
import { type Receiving, SPACES } from './plan.js';

// Jobs that a fault creates itself, in spaces that no worker polls.

let numbers = 1_000_000; // The load has fewer jobs.

/** Return a unique number for the payload of a job. */
export const nextNumber = () => ++numbers;

/** A call about a job, and its body. */
export type Step = readonly [op: Operation, sent?: unknown];

export interface OwnJob {
  client: string;
  spaceId: string;
  name?: string;
  n?: number;
  maxRetries?: number;
  timeoutSeconds?: number; // Default: long enough that nothing times out.
  receiving?: Receiving | undefined; // Default: no callback.
  api?: number; // Index of the API that gets the calls. Default any.
}

/** Create a job, and make some calls for it. @returns ID of the job */
export async function bringJob(
  { call, load }: Pick<FaultContext, 'call' | 'load'>,
  { client, spaceId, api, n = nextNumber(), receiving, ...fields }: OwnJob,
  ...steps: Step[]
): Promise<string> {
  const callback = receiving === undefined ? {} : { callbackUrl: load.callbackUrl(n, receiving) };
  const sent = { name: client, payload: { n }, maxRetries: 0, timeoutSeconds: 120, ...fields, ...callback };
  const through = api === undefined ? { client } : { client, api };
  const { jobId } = await call({ ...through, op: 'create', spaceId, sent });
  if (jobId === null) throw new Error(`${client} could not create a job`);
  const step = async ([op, body]: Step): Promise<void> => {
    const { outcome } = await call({ ...through, op, jobId, sent: body });
    if (op !== 'ack' || outcome !== 'refused') return;
    await step(['claim']); // On a slow machine, the delivery window may have closed.
    await step([op]);
  };
  for (const one of steps) await step(one);
  return jobId;
}

/** Return names of spaces in partitions that no other space uses. */
export function separateSpaces(count: number): string[] {
  const taken = new Set(SPACES.map(partitionOf));
  const spaces: string[] = [];
  for (let n = 0; spaces.length < count; n++) {
    const space = `apart-${n}`;
    if (taken.has(partitionOf(space))) continue;
    taken.add(partitionOf(space));
    spaces.push(space);
  }
  return spaces;
}

import { createHmac } from 'node:crypto';
import { respondWith } from './behaviours.js';
import { jobIn } from './jobs.js';
import type { Receiver } from './receiver.js';
import type { TestService } from './service.js';
import { until } from './until.js';

/** An attempt at a callback as the job's history shows it, without its URL. */
export interface Attempt {
  type: 'callback_sent' | 'callback_failed';
  data: Record<string, unknown>;
}

export const sent = (statusCode: number, attempt = 1, willRetry = false): Attempt => ({
  type: 'callback_sent',
  data: { statusCode, attempt, retryAttempt: attempt - 1, willRetry },
});

export const failed = (error: unknown, attempt = 1, willRetry = false): Attempt => ({
  type: 'callback_failed',
  data: { error, attempt, retryAttempt: attempt - 1, willRetry },
});

/** Create a master secret for signing callbacks: 32 times this character. */
export const masterOf = (character: string) => `whsec_${Buffer.alloc(32, character).toString('base64')}`;

/** Derive the secret of a space from a master secret. Duplicated from the product, because receivers rely on it. */
export function secretOf(master: string, spaceId: string): string {
  const key = Buffer.from(master.replace('whsec_', ''), 'base64');
  return `whsec_${createHmac('sha256', key).update(`callback:${spaceId}`).digest('base64')}`;
}

/** The attempts at a refused address, which a retry can't change. */
export const REFUSED = [failed('address is not public')];

/** List attempts with the same outcome, of which all but the last will be retried. */
export const ofEach = (attempts: number, outcome: (attempt: number, willRetry: boolean) => Attempt) =>
  Array.from({ length: attempts }, (_, i) => outcome(i + 1, i + 1 < attempts));

/** List the callback events that the history of a job with this URL must show. */
export const historyOf = (url: string, attempts: Attempt[]) =>
  attempts.map(({ type, data }) => ({ type, data: { url, ...data } }));

// biome-ignore lint/suspicious/noExplicitAny: tests compare whole jobs; a schema here would hide differences
type AnyJob = any;

/** List the attempts in the history of a job, oldest first. */
export function attemptsOf(job: AnyJob): Attempt[] {
  return job.events
    .filter(({ type }: Attempt) => type.startsWith('callback_'))
    .map(({ type, data }: Attempt) => ({ type, data }));
}

export async function readJob(service: TestService, id: string): Promise<AnyJob> {
  const { status, body } = await service.call('GET', `/jobs/${id}`);
  if (status !== 200) throw new Error(`no job: ${JSON.stringify(body)}`);
  return body;
}

/** Wait for the last attempt at a job's callback, and return the job. */
export async function settled(service: TestService, id: string): Promise<AnyJob> {
  let job: AnyJob;
  await until(async () => {
    job = await readJob(service, id);
    return attemptsOf(job).at(-1)?.data.willRetry === false;
  });
  return job;
}

/** Complete a job with that callback and return its attempts. */
export async function attemptsTo(service: TestService, callbackUrl: string): Promise<Attempt[]> {
  const id = await jobIn(service, 'completed', 'callbacks', { callbackUrl });
  return attemptsOf(await settled(service, id));
}

/** Wait until a callback that became due after all others of the space has been sent. */
export async function sendLaterCallback(service: TestService, receiver: Receiver, spaceId: string): Promise<void> {
  const callbackUrl = receiver.script(`/later/${service.prefix}/${spaceId}`, respondWith(204));
  await settled(service, await jobIn(service, 'completed', spaceId, { callbackUrl }));
}

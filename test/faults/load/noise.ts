import type { Caller } from '../client.js';

export interface NoiseOptions {
  spaceId: string;
  /** Events, one after the other. */
  events: number;
  /** Bytes of each. */
  bytes: number;
}

/** Lead one job through many large events and to its end, and wait for it. */
export async function makeNoise(call: Caller, { spaceId, events, bytes }: NoiseOptions): Promise<void> {
  const client = 'noise';
  const sent = { name: 'noise', payload: {}, maxRetries: 0, timeoutSeconds: 60 };
  const { jobId } = await call({ client, op: 'create', spaceId, sent });
  if (jobId === null) throw new Error('no job to make noise with');
  const filler = 'x'.repeat(bytes);
  await call({ client, op: 'claim', jobId });
  await call({ client, op: 'ack', jobId, attempt: 0 });
  for (let n = 1; n <= events; n++)
    await call({ client, op: 'event', jobId, attempt: 0, sent: { token: `noise-${n}`, filler } });
  await call({ client, op: 'complete', jobId, attempt: 0, sent: { result: { token: 'noise' } } });
}

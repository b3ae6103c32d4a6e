import { expect } from '@jest/globals';
import type { CallOptions } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import type { TestService } from '../support/service.js';
import { append, appendOk, logsKey } from './entries.js';

// How a refused batch is told from a stored one.

export interface Refusal {
  status: number;
  code: string;
  error: string;
  details?: { path: string; message: string }[];
}

export const invalid = (error: string): Refusal => ({ status: 400, code: 'INVALID_REQUEST', error });
export const tooLarge = (error: string): Refusal => ({ status: 413, code: 'TOO_LARGE', error });
export const unsupported = (error: string): Refusal => ({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', error });

/** Expect that a job of its own refuses a batch, keeps nothing of it, and gives the next batch seq 1. */
export async function expectRefused(service: TestService, batch: CallOptions, { status, ...body }: Refusal) {
  const { id } = await createJob(service, 'refusals');
  const answer = await append(service, id, batch);
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body });
  expect(await service.redis.llen(logsKey(service, id))).toBe(0);
  await appendOk(service, id, ['after a refusal']);
}

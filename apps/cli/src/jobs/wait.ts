import { isTerminal, type JobWithEvents, LIMITS } from '@yardmaster/protocol';
import type { Io } from '../command.js';
import { CREATE_EXIT, type Outcome } from '../exit-codes.js';
import { callJson } from '../service/call.js';
import { jobPath, type Service } from '../service/service.js';
import { printable, printableJson } from '../terminal/printable.js';

interface WaitOptions {
  service: Service;
  jobId: string;
  waitSeconds: number;
  isJson: boolean;
}

const ENDS = { completed: CREATE_EXIT.created, dead: CREATE_EXIT.dead, killed: CREATE_EXIT.killed };

/** Wait for the end of a job, and print its result, or with `--json` the job. */
export async function waitForEnd({ service, jobId, waitSeconds, isJson }: WaitOptions, io: Io): Promise<Outcome> {
  const endMs = performance.now() + waitSeconds * 1000;
  const print = (value: unknown) => io.out.write(`${printableJson(JSON.stringify(value ?? null))}\n`);
  for (;;) {
    const leftSeconds = Math.max(0, (endMs - performance.now()) / 1000);
    const query = { waitSeconds: Math.min(leftSeconds, LIMITS.waitSecondsMax) };
    const job = await callJson<JobWithEvents>(service, { path: jobPath(jobId, '', query) });
    const name = `job ${printable(jobId)}`;
    if (isTerminal(job.status)) {
      if (isJson) print(job);
      else if (job.status === 'completed') print(job.result);
      const sentence = job.status === 'completed' ? null : printable(`${name} is ${job.status}${reasonOf(job)}`);
      return { exit: ENDS[job.status], sentence };
    }
    if (performance.now() < endMs) continue; // A call may wait for a shorter time than the caller asked for.
    return { exit: CREATE_EXIT.timedOut, sentence: `${name} is still ${printable(job.status)} after ${waitSeconds} s` };
  }
}

/** Return why a job ended without a result, for a sentence; an empty text when no reason is known. */
function reasonOf({ status, error, events }: JobWithEvents): string {
  const reason = status === 'killed' ? (events.at(-1)?.data as { reason?: unknown } | null)?.reason : error;
  if (reason === undefined || reason === null) return '';
  return `: ${typeof reason === 'string' ? reason : JSON.stringify(reason)}`;
}

import { createHmac } from 'node:crypto';
import { callbackKeys, isSignatureHeader } from '@yardmaster/protocol';
import type { CallbackAttempt } from '@yardmaster/store';

/** The body of a callback: the same bytes at every attempt (spec §6.3.2). */
export function bodyOf(attempt: CallbackAttempt): string {
  const { jobId, spaceId, name, status, attemptNumber, endedAt, result } = attempt;
  const before = JSON.stringify({ jobId, spaceId, name, status, attemptNumber });
  // The result is JSON text already; parsing it to write it again could only change it.
  return `${before.slice(0, -1)},"result":${result},"timestamp":${JSON.stringify(endedAt)}}`;
}

/** Headers that stay ours, whatever the job's `callbackHeaders` say. */
const OURS = { 'content-type': 'application/json', 'user-agent': 'Yardmaster/1.0' };

/**
 * All headers of a callback, names in lower case; those of the job over the others (spec §6.3.3), but for signature
 * headers. Create refuses those; a job that an earlier release stored may have some.
 */
export function headersOf(attempt: CallbackAttempt, body: string, masters: readonly Buffer[]): Record<string, string> {
  const theirs = Object.entries(attempt.headers)
    .filter(([name]) => !isSignatureHeader(name))
    .map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...signatureOf(attempt, body, masters), ...Object.fromEntries(theirs), ...OURS };
}

/**
 * The headers of Standard Webhooks, or none without a master.
 *
 * @param masters the newest first; with several, a receiver that knows the secret from any of them can verify
 * @see https://github.com/standard-webhooks/standard-webhooks
 */
function signatureOf(attempt: CallbackAttempt, body: string, masters: readonly Buffer[]): Record<string, string> {
  if (masters.length === 0) return {};
  const { jobId, spaceId, nowMs } = attempt;
  const id = `msg_${jobId}`;
  const timestamp = String(Math.floor(nowMs / 1000));
  const sign = (key: Buffer) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const signatures = callbackKeys(masters, spaceId).map(sign);
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
  };
}

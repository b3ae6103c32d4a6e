import { createHmac } from 'node:crypto';
import { callbackKeys } from '@yardmaster/protocol';
import type { CallbackAttempt } from '@yardmaster/store';

/** Build the body of a callback, which is identical in every attempt. */
export function bodyOf(attempt: CallbackAttempt): string {
  const { jobId, spaceId, name, status, attemptNumber, endedAt, result } = attempt;
  const before = JSON.stringify({ jobId, spaceId, name, status, attemptNumber });
  // The result is already JSON text; parsing and serializing it again could only change it.
  return `${before.slice(0, -1)},"result":${result},"timestamp":${JSON.stringify(endedAt)}}`;
}

/** Headers that the job's `callbackHeaders` cannot replace. */
const FIXED_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Yardmaster/1.0' };

/**
 * Build all headers of a callback, with lowercase names. The job's headers take precedence, but creates refuse signature
 * headers.
 */
export function headersOf(
  attempt: CallbackAttempt,
  body: string,
  masterSecrets: readonly Buffer[],
): Record<string, string> {
  const jobHeaders = Object.entries(attempt.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...signatureOf(attempt, body, masterSecrets), ...Object.fromEntries(jobHeaders), ...FIXED_HEADERS };
}

/**
 * Build the Standard Webhooks headers; none without a master secret.
 *
 * @param masterSecrets newest first; with several, a receiver can verify with the secret derived from any of them
 * @see https://github.com/standard-webhooks/standard-webhooks
 */
function signatureOf(attempt: CallbackAttempt, body: string, masterSecrets: readonly Buffer[]): Record<string, string> {
  if (masterSecrets.length === 0) return {};
  const { jobId, spaceId, order, endedAt, nowMs } = attempt;
  // A job re-created with the ID of a purged one ends a second time; receivers must not drop that as a duplicate.
  const id = `msg_${jobId}_${order}_${Date.parse(endedAt)}`;
  const timestamp = String(Math.floor(nowMs / 1000));
  const sign = (key: Buffer) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const signatures = callbackKeys(masterSecrets, spaceId).map(sign);
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
  };
}

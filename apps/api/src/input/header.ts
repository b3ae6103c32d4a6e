import type { IncomingMessage } from 'node:http';
import { DELIVERY_TOKEN, LIMITS, YardmasterError } from '@yardmaster/protocol';

const MAX = LIMITS.idempotencyKeyCharacters;

/** Request headers of endpoints, by name: the pattern of their values, and what a value must be. */
export const REQUEST_HEADERS = {
  'idempotency-key': {
    pattern: new RegExp(`^[ -~]{1,${MAX}}$`),
    rule: `must be 1 to ${MAX} printable ASCII characters`,
  },
  'x-delivery-token': { pattern: new RegExp(DELIVERY_TOKEN), rule: 'must be the deliveryToken of a claimed job' },
};
export type HeaderName = keyof typeof REQUEST_HEADERS;

/**
 * Return the value of a request header; null without the header.
 *
 * @throws INVALID_REQUEST
 * @see docs/api.md#send-a-create-again
 */
export function requestHeader({ headers, rawHeaders }: IncomingMessage, name: HeaderName): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  // Node joins the values of a header that appears twice.
  const isRepeated = rawHeaders.filter((raw, i) => i % 2 === 0 && raw.toLowerCase() === name).length > 1;
  if (isRepeated) throw new YardmasterError('INVALID_REQUEST', `${name} must appear at most once`);
  const { pattern, rule } = REQUEST_HEADERS[name];
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new YardmasterError('INVALID_REQUEST', `${name} ${rule}`);
}

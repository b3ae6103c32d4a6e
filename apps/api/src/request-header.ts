import type { IncomingMessage } from 'node:http';
import { LIMITS, YardmasterError } from '@yardmaster/protocol';

const NAME = 'idempotency-key';
const MAX = LIMITS.idempotencyKeyCharacters;
const SHAPE = new RegExp(`^[\\x20-\\x7e]{1,${MAX}}$`);

/**
 * Return the idempotency key of a request, from its header `Idempotency-Key`; null without the header.
 *
 * @throws INVALID_REQUEST
 * @see contract-2 §1
 */
export function idempotencyKeyOf({ headers, rawHeaders }: IncomingMessage): string | null {
  const key = headers[NAME];
  if (key === undefined) return null;
  const isRepeated = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === NAME).length > 1;
  if (isRepeated) throw new YardmasterError('INVALID_REQUEST', `${NAME} must appear at most once`);
  if (typeof key === 'string' && SHAPE.test(key)) return key;
  throw new YardmasterError('INVALID_REQUEST', `${NAME} must be 1 to ${MAX} printable ASCII characters`);
}

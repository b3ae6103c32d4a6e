import type { z } from 'zod';
import { type FaultDetail, YardmasterError } from './errors.js';
import { LIMITS } from './limits.js';

/** `logs[3].level`, `subProgress.build.percent`: a path as a caller would write it. */
function pathOf(path: readonly PropertyKey[], whole: string): string {
  if (path.length === 0) return whole;
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${String(step)}`))
    .join('')
    .slice(0, LIMITS.faultPathCharacters);
}

/**
 * Check a request part against its schema.
 *
 * @param whole what the part is called when no field of it is at fault: `body`
 * @returns the schema's output
 * @throws INVALID_REQUEST with one sentence that names the first wrong field, and `details` when several are wrong
 */
export function validate<T extends z.ZodType>(schema: T, input: unknown, whole = 'body'): z.output<T> {
  const outcome = schema.safeParse(input);
  if (outcome.success) return outcome.data;
  const details: FaultDetail[] = outcome.error.issues.slice(0, LIMITS.faultDetails).map(({ path, message }) => {
    const where = pathOf(path, whole);
    return { path: where, message: `${where} ${message}` };
  });
  throw new YardmasterError('INVALID_REQUEST', details[0]?.message, details.length > 1 ? { details } : {});
}

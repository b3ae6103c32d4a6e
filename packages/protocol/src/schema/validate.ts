import type { z } from 'zod';
import { type FaultDetail, YardmasterError } from '../errors.js';
import { LIMITS } from '../limits.js';

/** Write a path as a caller would write it: `subProgress.build.percent`, `types[3]`; '' for the whole. */
function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${String(step)}`))
    .join('')
    .slice(0, LIMITS.faultPathCharacters);
}

type UnknownFields = Pick<z.core.$ZodIssueUnrecognizedKeys, 'keys'>;

/** Return the fault of a name that is not known. @param similar the known name that is closest; null for none */
export function unknownFault(what: 'field' | 'query parameter', path: string, similar: string | null): FaultDetail {
  return { path, message: `unknown ${what} ${path || '""'}${similar === null ? '' : `, did you mean ${similar}?`}` };
}

/**
 * Return the faults that zod has found, each as a sentence.
 *
 * @param nameOf returns the name of a field; it gets '' for the input as a whole
 */
export function faultsOf(issues: readonly z.core.$ZodIssue[], nameOf: (field: string) => string): FaultDetail[] {
  return issues.slice(0, LIMITS.faultDetails).flatMap(({ code, path, message, ...issue }) => {
    if (code === 'unrecognized_keys') {
      const { keys } = issue as UnknownFields; // See exactObject.
      const similar: (string | null)[] = JSON.parse(message);
      return similar.map((name, i) => unknownFault('field', pathOf([...path, keys[i] as string]), name));
    }
    const where = nameOf(pathOf(path));
    return [{ path: where, message: `${where} ${message}` }];
  });
}

/**
 * Create the refusal of a request with faults: one sentence for the first, and `details` when there are several.
 *
 * @param isListed whether `details` lists a single fault as well
 */
export function invalidRequest(faults: readonly FaultDetail[], { isListed = false } = {}): YardmasterError {
  const details = faults.slice(0, LIMITS.faultDetails);
  const hasDetails = isListed || details.length > 1;
  return new YardmasterError('INVALID_REQUEST', details[0]?.message, hasDetails ? { details } : {});
}

/**
 * Check a request part against its schema.
 *
 * @param whole name of the part when no field of it is wrong: `body`
 * @returns the schema's output
 * @throws INVALID_REQUEST with one sentence that names the first wrong field, and `details` when several are wrong
 */
export function validate<T extends z.ZodType>(schema: T, input: unknown, whole = 'body'): z.output<T> {
  const outcome = schema.safeParse(input);
  if (outcome.success) return outcome.data;
  throw invalidRequest(faultsOf(outcome.error.issues, (field) => field || whole));
}

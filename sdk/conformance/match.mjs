// Compare what happened with what a scenario expects.
import { isDeepStrictEqual } from 'node:util';

/**
 * Return whether a value matches an expectation. An object may have more fields; everything else must be equal. Use
 * `{"atLeast": n}`, `{"contains": text}` and `{"any": true}` for values that vary.
 */
export function matches(expected, value) {
  if (!isObject(expected)) {
    if (!Array.isArray(expected)) return isDeepStrictEqual(expected, value);
    return (
      Array.isArray(value) && expected.length === value.length && expected.every((one, i) => matches(one, value[i]))
    );
  }
  if ('atLeast' in expected) return value >= expected.atLeast;
  if ('atMost' in expected) return (value ?? 0) <= expected.atMost;
  if ('contains' in expected)
    return String(typeof value === 'string' ? value : JSON.stringify(value)).includes(expected.contains);
  if ('any' in expected) return value !== undefined && value !== null;
  return isObject(value) && Object.entries(expected).every(([field, one]) => matches(one, value[field]));
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Return whether events contain these in this order, possibly with others in between. */
export function occursInOrder(expected, events) {
  let at = 0;
  for (const event of events) if (at < expected.length && matches(expected[at], event)) at++;
  return at === expected.length;
}

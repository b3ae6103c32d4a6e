import { LIMITS } from '../limits.js';

/** Any value that JSON can express. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Whether a parsed JSON value is an object, and not an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Find why a parsed JSON value cannot be stored and returned unchanged.
 *
 * @param levels how deep arrays and objects may nest; a scalar is 0 deep, `{}` is 1
 * @returns the missing half of a sentence that starts with the field's name, or null when there is no fault
 */
export function jsonFault(value: unknown, levels: number = LIMITS.jsonDepth): string | null {
  // JSON.parse reads 1e400 as Infinity, which JSON.stringify would turn into null without an error.
  if (typeof value === 'number' && !Number.isFinite(value))
    return 'must not contain a number beyond the range of a double';
  if (typeof value !== 'object' || value === null) return null;
  if (levels === 0) return `must not nest deeper than ${LIMITS.jsonDepth} levels`;
  // Object.values also lists an own "__proto__" key, which JSON.parse creates.
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    const fault = jsonFault(item, levels - 1);
    if (fault !== null) return fault;
  }
  return null;
}

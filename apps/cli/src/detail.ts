import type { JsonValue } from '@yardmaster/protocol';

/** Functions that describe the data of a message in words, for the types whose data alone is not enough. */
const DETAILS: Record<string, (data: JsonValue) => string> = {
  delivery_timeout: () => 'not acked in time, pending again',
  logs_appended: (data) => `${text(field(data, 'count'))} (seq ${field(data, 'fromSeq')} to ${field(data, 'toSeq')})`,
  retried: (data) => `attempt ${text(field(data, 'attemptNumber'))} failed: ${text(field(data, 'error'))}`,
  dead: (data) => text(field(data, 'error')),
  killed: (data) => text(field(data, 'reason')),
};

/**
 * Describe a message for people, without its type. The text is not printable yet.
 *
 * @param data as it came, not validated
 */
export function detailOf(type: string, data: JsonValue): string {
  const inWords = Object.hasOwn(DETAILS, type) ? DETAILS[type] : undefined;
  if (inWords !== undefined) return inWords(data);
  return data === null ? '' : JSON.stringify(data);
}

/** Return a string as it is, without quotes around it; null as an empty text; all else as JSON. */
function text(value: JsonValue): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function field(data: JsonValue, name: string): JsonValue {
  const isObject = data !== null && typeof data === 'object' && !Array.isArray(data);
  return (isObject && Object.hasOwn(data, name) ? data[name] : null) ?? null;
}

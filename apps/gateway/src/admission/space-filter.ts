import { nameFilter, type PublishedMessage, spaceStreamType, validate } from '@yardmaster/protocol';

/** Whether a stream shows an event. */
export type Filter = (event: PublishedMessage) => boolean;

/** Parameters of the query that filter the stream of a space. Each may repeat. */
export const FILTERS = ['name', 'type'] as const;

/**
 * Read which events a stream of a space shows: those with one of the names, and of one of the types.
 *
 * @returns null without filters, for all events
 * @throws INVALID_REQUEST
 * @see contract-2 §5
 */
export function filterOf(query: URLSearchParams): Filter | null {
  const names = new Set(query.getAll('name').map((value) => validate(nameFilter, value, 'name')));
  const types = new Set<string>(query.getAll('type').map((value) => validate(spaceStreamType, value, 'type')));
  if (names.size === 0 && types.size === 0) return null;
  return ({ jobName, type }) => (names.size === 0 || names.has(jobName)) && (types.size === 0 || types.has(type));
}

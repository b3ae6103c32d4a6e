import { nameFilter, type PublishedMessage, spaceStreamType, tag, validate } from '@yardmaster/protocol';

/** Whether a stream shows an event. */
export type Filter = (event: PublishedMessage) => boolean;

/** Parameters of the query that filter the stream of a space. Each may repeat. */
export const FILTERS = ['name', 'type', 'tag'] as const;

/**
 * Read which events a stream of a space shows: those of jobs with one of the names and all of the tags, and of one of the
 * types.
 *
 * @param tagOfToken tag that the jobs must have, too; null for none
 * @returns null without filters, for all events
 * @throws INVALID_REQUEST
 * @see docs/streams.md
 */
export function filterOf(query: URLSearchParams, tagOfToken: string | null): Filter | null {
  const names = new Set(query.getAll('name').map((value) => validate(nameFilter, value, 'name')));
  const types = new Set<string>(query.getAll('type').map((value) => validate(spaceStreamType, value, 'type')));
  const tags = query.getAll('tag').map((value) => validate(tag, value, 'tag'));
  if (tagOfToken !== null) tags.push(tagOfToken);
  if (names.size + types.size + tags.length === 0) return null;
  return (event) =>
    (names.size === 0 || names.has(event.jobName)) &&
    (types.size === 0 || types.has(event.type)) &&
    tags.every((wanted) => event.tags?.includes(wanted) === true);
}

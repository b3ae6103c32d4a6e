import { LIMITS, type ListJobsQuery } from '@yardmaster/protocol';

/** Characters of a `Link` beyond which it is left out, because proxies refuse long headers. */
const MAX_LINK = 2_000;

/**
 * Return the headers that say where the next page of a list is. The URL is only a query, so that it is right behind any
 * proxy.
 *
 * @param limit of the page
 * @param parameters others, which the next page has as well
 */
export function nextPageHeaders(
  nextCursor: string,
  limit: number,
  parameters = new URLSearchParams(),
): Record<string, string> {
  if (limit !== LIMITS.listDefault) parameters.append('limit', String(limit));
  parameters.append('cursor', nextCursor);
  const link = `<?${parameters}>; rel="next"`;
  return { 'x-next-cursor': nextCursor, ...(link.length <= MAX_LINK && { link }) };
}

/** Write the parameters of a list of jobs. A cursor takes the place of an offset. */
export function listParameters({ filter, order }: ListJobsQuery): URLSearchParams {
  const { statuses, names, tags, createdAfter, createdBefore, q } = filter;
  const parameters = new URLSearchParams();
  for (const status of statuses) parameters.append('status', status);
  for (const name of names) parameters.append('name', name);
  for (const tag of tags) parameters.append('tag', tag);
  if (createdAfter !== null) parameters.append('createdAfter', new Date(createdAfter).toISOString());
  if (createdBefore !== null) parameters.append('createdBefore', new Date(createdBefore).toISOString());
  if (q !== null) parameters.append('q', q);
  if (order !== 'desc') parameters.append('order', order);
  return parameters;
}

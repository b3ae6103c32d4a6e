import { LIMITS, type ListJobsQuery } from '@yardmaster/protocol';

/** Maximum length of a `Link`. A longer one is omitted, because proxies refuse long headers. */
const MAX_LINK = 2_000;

/**
 * Return the headers that point to the next page of a list. The URL is only a query, so that it works behind any proxy.
 *
 * @param limit page size
 * @param parameters other parameters to carry over to the next page
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

/** Serialize the parameters of a list of jobs, without `offset`, which the cursor replaces. */
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

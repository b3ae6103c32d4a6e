import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { once, queryInteger, queryText } from '../schema/fields.js';
import { filterOf, queryFilter, statusFilter } from './filter.js';

/** Form of a cursor: below 2^53, which orders reach in the year 2248. Clients treat a cursor as opaque. */
const CURSOR = /^[0-8]?[0-9]{1,15}$/;

const checkedCursor = queryText.regex(CURSOR, { error: 'must be one that a response returned' }).transform(Number);
const cursor = describeAs(checkedCursor, z.string().regex(CURSOR));

const ORDERS = ['asc', 'desc'] as const;

/** Query of List Jobs. */
export const listJobsQuery = z
  .object({
    status: statusFilter.optional(),
    ...queryFilter,
    order: once(z.enum(ORDERS, { error: `must be one of ${ORDERS.join(', ')}` }))
      .default('desc')
      .describe('By creation: `desc` begins with the newest job, `asc` with the oldest; default `desc`'),
    cursor: cursor.optional().describe('`x-next-cursor` of the response before: the page that follows it'),
    limit: queryInteger(1, LIMITS.listMax)
      .default(LIMITS.listDefault)
      .describe(`Jobs in a page; above ${LIMITS.listMax} is served as ${LIMITS.listMax}`),
    offset: queryInteger(0, Number.MAX_SAFE_INTEGER)
      .default(0)
      .describe('Jobs to skip, from the newest; only together with `limit` and one `status`'),
  })
  .superRefine(({ offset, status = [], order, limit: _, ...others }, ctx) => {
    const isAlone = status.length <= 1 && order === 'desc' && Object.values(others).every((one) => one === undefined);
    if (offset === 0 || isAlone) return;
    const message = 'must not be given together with cursor, order or a filter other than one status; use cursor';
    ctx.addIssue({ code: 'custom', message, path: ['offset'] });
  })
  .transform(({ status, name, tag, limit, offset, order, cursor = null, ...parts }) => ({
    filter: filterOf(status, { ...parts, names: name, tags: tag }),
    order,
    /** Place in the space after which the page begins; null for the first page. */
    cursor,
    limit,
    offset,
  }));
export type ListJobsQuery = z.output<typeof listJobsQuery>;

import { z } from 'zod';
import { LIMITS } from './limits.js';
import { jsonObject, queryInteger, queryText } from './schema/fields.js';
import { instant } from './schema/response-fields.js';

/** Query of List Audit Entries. */
export const auditQuery = z.object({
  limit: queryInteger(1, LIMITS.auditMax)
    .default(LIMITS.auditDefault)
    .describe('Most entries of a page; 50 by default, and a value above 100 counts as 100'),
  cursor: queryText
    .regex(/^[1-9]\d{0,14}-\d{1,15}$/, { error: 'must be the nextCursor of an earlier page' })
    .optional()
    .describe('The `nextCursor` of the page before; absent for the newest entries'),
});
export type AuditQuery = z.output<typeof auditQuery>;

/** An act that somebody did with an API key, or refused access: what it was, and from where. */
export const auditEntry = z
  .object({
    id: z.string().describe('Grows from entry to entry'),
    at: instant,
    keyId: z
      .string()
      .describe('Id of the API key that was used; `admin` for `ADMIN_API_KEY`, and empty for an unknown key'),
    keyName: z.string().describe('Empty for an unknown key'),
    action: z.string().describe('What was done, such as `job.kill` or `access.denied`'),
    spaceId: z.string().nullable().describe('Space of the job or the key; null for none, or for every space'),
    jobId: z.string().nullable(),
    address: z.string().describe('Address of the client; of IPv6, its /64 network; `*` for several'),
    requestId: z.string().describe('The `x-request-id` of the call; the last one of acts that are counted'),
    details: jsonObject.describe(
      'What else identifies the act, and `count` of acts that are counted; no secrets, and no data of jobs',
    ),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.output<typeof auditEntry>;

/** Response of List Audit Entries. */
export const auditPage = z
  .object({
    entries: z.array(auditEntry).describe('Newest first'),
    nextCursor: z.string().nullable().describe('For the next page, whose entries are older; null when there is none'),
  })
  .meta({ id: 'AuditPage' });
export type AuditPage = z.output<typeof auditPage>;

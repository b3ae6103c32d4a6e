import { z } from 'zod';
import { LIMITS } from './limits.js';
import { jsonObject, queryInteger, queryText } from './schema/fields.js';
import { instant } from './schema/response-fields.js';

/** Query of List Audit Entries. */
export const auditQuery = z.object({
  limit: queryInteger(1, LIMITS.auditMax)
    .default(LIMITS.auditDefault)
    .describe(`Maximum number of entries per page; values above ${LIMITS.auditMax} are capped at ${LIMITS.auditMax}`),
  cursor: queryText
    .regex(/^[1-9]\d{0,14}-\d{1,15}$/, { error: 'must be the nextCursor of an earlier page' })
    .optional()
    .describe('The `nextCursor` of the previous page; omit it to get the newest entries'),
});
export type AuditQuery = z.output<typeof auditQuery>;

/** One entry of the audit: what was done with an API key, or which access was refused, and from where. */
export const auditEntry = z
  .object({
    id: z.string().describe('Increases with every entry'),
    at: instant,
    keyId: z
      .string()
      .describe('ID of the API key that was used; `admin` for `ADMIN_API_KEY`, empty for an unknown key'),
    keyName: z.string().describe('Name of that key; empty for an unknown key'),
    action: z.string().describe('What was done, such as `job.kill` or `access.denied`'),
    spaceId: z
      .string()
      .nullable()
      .describe('Space of the job or key; null if there is none, or if the key is not bound to one'),
    jobId: z.string().nullable(),
    address: z.string().describe('Address of the client; the /64 network for IPv6, `*` for several addresses'),
    requestId: z.string().describe('The `x-request-id` of the call; for repeated calls, that of the last one'),
    details: jsonObject.describe(
      'Further details, including a `count` for repeated calls; never secrets or the data of a job',
    ),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.output<typeof auditEntry>;

/** Response of List Audit Entries. */
export const auditPage = z
  .object({
    entries: z.array(auditEntry).describe('Newest first'),
    nextCursor: z.string().nullable().describe('Cursor of the next page, with older entries; null on the last page'),
  })
  .meta({ id: 'AuditPage' });
export type AuditPage = z.output<typeof auditPage>;

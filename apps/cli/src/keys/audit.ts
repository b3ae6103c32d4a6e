import { type AuditEntry, type AuditPage, LIMITS } from '@yardmaster/protocol';
import type { CliCommand } from '../command.js';
import { CALL_EXIT, exitCodesHelp } from '../exit-codes.js';
import { countBetween } from '../flag-values.js';
import { expectKey, type ServiceFlags, serviceOf, withServiceOptions } from '../flags.js';
import { callJson, Refused } from '../service/call.js';
import type { Service } from '../service/service.js';
import { printableJson } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';

interface Flags extends ServiceFlags {
  limit?: number;
  json?: boolean;
}

/** Parsed command line of `audit`. */
export interface AuditRequest {
  service: Service;
  limit: number;
  isJson: boolean;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** What an act concerns: a job, or else a key. */
const subjectOf = ({ jobId, details }: AuditEntry) => jobId ?? String(details.name ?? details.keyId ?? '-');

const COLUMNS: Column<AuditEntry>[] = [
  { title: 'AT', of: ({ at }) => at },
  { title: 'ACTION', of: ({ action }) => action },
  { title: 'SUBJECT', of: subjectOf },
  { title: 'SPACE', of: ({ spaceId }) => spaceId ?? '-' },
  { title: 'KEY', of: ({ keyName, keyId }) => `${keyName} (${keyId})` },
  { title: 'ADDRESS', of: ({ address }) => address },
];

/** `yardmaster audit`: lists what was done with API keys that may change the service or end jobs. */
export const auditCommand: CliCommand<AuditRequest, Flags> = {
  name: 'audit',
  define: (command) =>
    withServiceOptions(
      command
        .description('List what administrators and operators have done, newest first.')
        .option(
          '--limit <count>',
          `maximum number of entries to list (default: ${DEFAULT_LIMIT})`,
          countBetween(1, MAX_LIMIT),
        ),
    )
      .option('--json', 'print each entry as one line of JSON')
      .addHelpText('after', `\nNeeds a key with keys:manage.\n${exitCodesHelp(CALL_EXIT)}`),
  parse(_args, flags, env) {
    const service = serviceOf(flags, env);
    expectKey(service, 'reading the audit', 'keys:manage');
    return { service, limit: flags.limit ?? DEFAULT_LIMIT, isJson: flags.json ?? false };
  },
  async run({ service, limit, isJson }, { out }) {
    const entries = await readEntries(service, limit);
    const lines = isJson
      ? entries.map((entry) => printableJson(JSON.stringify(entry)))
      : tableOf(COLUMNS, entries, out);
    out.write(lines.map((line) => `${line}\n`).join(''));
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

/** Read pages until there are enough entries. */
async function readEntries(service: Service, limit: number): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  let cursor: string | null = '';
  while (cursor !== null && entries.length < limit) {
    const count = Math.min(limit - entries.length, LIMITS.auditMax);
    const path: string = `audit?limit=${count}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const page: AuditPage = await callJson<AuditPage>(service, { path });
    if (!Array.isArray(page?.entries)) throw new Refused('the response is not a page of the audit');
    entries.push(...page.entries);
    cursor = page.nextCursor;
  }
  return entries;
}

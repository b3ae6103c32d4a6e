import { type AuditEntry, LIMITS } from '@yardmaster/protocol';
import { type CommandLine, defineCommand } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { countBetween } from '../flag-values.js';
import { type ServiceFlags, serviceIn, withServiceOptions } from '../flags.js';
import { readRows } from '../service/call.js';
import { jsonLine } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';

interface Flags extends ServiceFlags {
  limit?: number;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 20_000;

/** Return what an entry is about, such as a job, a key or the status of a refusal, with its count if above 1. */
function subjectOf({ jobId, details }: AuditEntry): string {
  const { name, keyId, operationId, scheduleId, owner, status, count = 1 } = details;
  const subject = String(jobId ?? name ?? keyId ?? operationId ?? scheduleId ?? owner ?? status ?? '-');
  return count === 1 ? subject : `${subject} x${count}`;
}

const COLUMNS: Column<AuditEntry>[] = [
  { title: 'AT', of: ({ at }) => at },
  { title: 'ACTION', of: ({ action }) => action },
  { title: 'SUBJECT', of: subjectOf },
  { title: 'SPACE', of: ({ spaceId }) => spaceId ?? '-' },
  { title: 'KEY', of: ({ keyName, keyId }) => (keyId === '' ? '-' : `${keyName} (${keyId})`) },
  { title: 'ADDRESS', of: ({ address }) => address },
];

/** `yardmaster audit`: lists what administrators and operators did, and refused access. */
export const auditCommand = defineCommand({
  name: 'audit',
  example: 'audit --limit 20',
  define: (command) =>
    withServiceOptions(
      command
        .description('List the actions of administrators and operators, and refused access, newest first.')
        .option(
          '--limit <count>',
          `maximum number of entries to list (default: ${DEFAULT_LIMIT})`,
          countBetween(1, MAX_LIMIT),
        ),
    )
      .option('--json', 'print each entry as one line of JSON')
      .addHelpText('after', keyHelp('keys:manage')),
  parse(line: CommandLine<Flags>) {
    const { limit = DEFAULT_LIMIT } = line.flags;
    return { ...serviceIn(line, 'reading the audit log', 'keys:manage'), limit };
  },
  async run({ service, limit, isJson }, { out }) {
    const pages = { path: 'audit', member: 'entries', pageName: 'a page of the audit log', pageMax: LIMITS.auditMax };
    const { rows } = await readRows<AuditEntry>(service, { ...pages, limit });
    return done(out, isJson ? rows.map(jsonLine) : tableOf(COLUMNS, rows, out));
  },
});

import { type ApiKey, type CreatedApiKey, type KeyLimits, LIMITS, type OwnApiKey, SCOPES } from '@yardmaster/protocol';
import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { CALL_EXIT, DONE, done, exitCodesHelp, keyHelp } from '../exit-codes.js';
import { countBetween, countOf, futureMomentOf, numberAbove0, repeated, secondsOf } from '../flag-values.js';
import { idIn, type ServiceFlags, type SpaceFlags, serviceIn, withServiceOptions, withSpaceOption } from '../flags.js';
import { call, Refused, readRows } from '../service/call.js';
import { queryOf } from '../service/service.js';
import { jsonLine, printable } from '../terminal/printable.js';
import { writeLines } from '../terminal/region.js';
import { type Column, tableOf } from '../terminal/table.js';

const HELP = keyHelp('keys:manage');

interface CreateFlags extends SpaceFlags {
  name?: string;
  scope?: string[];
  expires?: string;
  limit?: number;
  burst?: number;
}

/** `yardmaster keys create`: creates an API key, and prints it. */
const createKeyCommand = defineCommand({
  name: 'keys create',
  example: 'keys create --name ci --scope jobs:create,jobs:read --space demo --expires 30d',
  define: (command) =>
    withSpaceOption(
      command
        .description('Create an API key, and print it. It is never shown again.')
        .requiredOption(
          '--scope <scopes>',
          `required; scopes, comma-separated: ${SCOPES.join(', ')}; repeatable`,
          repeated,
        )
        .option('--name <name>', 'name of the key (default: cli)')
        .option('--expires <time>', 'when the key expires: ISO 8601, or a time from now, such as 30d', futureMomentOf)
        .option('--limit <calls>', 'maximum calls per second in each API process', numberAbove0)
        .option(
          '--burst <calls>',
          'maximum calls at once after an idle period (default: the value of --limit)',
          countOf,
        ),
    )
      .option('--json', 'print the key with all its fields as one line of JSON')
      .addHelpText('after', `\nWithout --space and YARDMASTER_SPACE, the key works in every space.\n${HELP}`),
  parse(line: CommandLine<CreateFlags>) {
    const { flags, env } = line;
    const target = serviceIn(line, 'creating a key', 'keys:manage');
    if (flags.space === '') throw new UsageError('--space is empty');
    const { name = 'cli', scope = [], expires: expiresAt = null } = flags;
    const scopes = scope.flatMap((list) => list.split(',')).map((each) => each.trim());
    const spaceId = flags.space ?? (env.YARDMASTER_SPACE || null);
    return { ...target, body: { name, scopes, spaceId, expiresAt, limits: limitsOf(flags) } };
  },
  async run({ service, body, isJson }, { out, err }) {
    // Sent once: nobody would notice a second key.
    const created = await call<CreatedApiKey>(service, { isOnce: true, method: 'POST', path: 'keys', body });
    if (typeof created?.key !== 'string') throw new Refused('the response is not an API key');
    const { id, key, spaceId, expiresAt } = created;
    out.write(`${isJson ? jsonLine(created) : printable(key)}\n`);
    const where = spaceId === null ? 'every space' : `the space ${spaceId}`;
    const expiry = expiresAt === null ? 'never expires' : `expires at ${expiresAt}`;
    if (!isJson) err.write(`${printable(`key ${id} for ${where}, ${expiry}`)}\n`);
    return DONE;
  },
});

/** Return the rate limits that flags set; null for none. @throws UsageError */
function limitsOf({ limit, burst }: CreateFlags): KeyLimits | null {
  if (limit !== undefined) return { perSecond: limit, burst: burst ?? Math.ceil(limit) };
  if (burst !== undefined) throw new UsageError('--burst requires --limit');
  return null;
}

const COLUMNS: Column<ApiKey>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'SPACE', of: ({ spaceId }) => spaceId ?? '-' },
  { title: 'EXPIRES', of: ({ expiresAt }) => expiresAt ?? '-' },
  { title: 'LAST USED', of: ({ lastUsedAt }) => lastUsedAt ?? '-' },
  { title: 'CREATED BY', of: ({ createdBy }) => createdBy ?? '-' },
  { title: 'SCOPES', of: ({ scopes }) => scopes.join(',') },
];

interface ListFlags extends ServiceFlags {
  limit?: number;
}

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 100_000;

/** `yardmaster keys list`: lists the API keys, without their secrets. */
const listKeysCommand = defineCommand({
  name: 'keys list',
  example: 'keys list',
  define: (command) =>
    withServiceOptions(
      command
        .description('List the API keys, newest first.')
        .option(
          '--limit <count>',
          `maximum number of keys to list (default: ${DEFAULT_LIMIT})`,
          countBetween(1, MAX_LIMIT),
        ),
    )
      .option('--json', 'print each key as one line of JSON')
      .addHelpText('after', HELP),
  parse(line: CommandLine<ListFlags>) {
    const { limit = DEFAULT_LIMIT } = line.flags;
    return { ...serviceIn(line, 'listing keys', 'keys:manage'), limit };
  },
  async run({ service, limit, isJson }, { out, err }) {
    const pages = { path: 'keys', member: null, pageName: 'a list of keys', pageMax: LIMITS.listMax };
    const { rows, isCut } = await readRows<ApiKey>(service, { ...pages, limit });
    writeLines(out, isJson ? rows.map(jsonLine) : tableOf(COLUMNS, rows, out));
    if (isCut) err.write(`only the newest ${rows.length} keys are listed; use --limit to list more\n`);
    return DONE;
  },
});

interface RevokeFlags extends ServiceFlags {
  keepChildren?: boolean;
}

/** `yardmaster keys revoke`: revokes an API key, and all keys that were created with it. */
const revokeKeyCommand = defineCommand({
  name: 'keys revoke',
  example: 'keys revoke $KEY_ID',
  define: (command) =>
    withServiceOptions(
      command
        .description('Revoke an API key, and all keys that were created with it.')
        .argument('<keyId>', 'ID of the key, from "keys list"')
        .option('--keep-children', 'keep the keys that were created with it'),
    ).addHelpText('after', HELP),
  parse: (line: CommandLine<RevokeFlags>) => ({
    ...idIn(line, 'revoking a key', 'keys:manage'),
    keepChildren: line.flags.keepChildren ? 'true' : null,
  }),
  async run({ service, id, keepChildren }, { out }) {
    const path = `keys/${encodeURIComponent(id)}${queryOf({ keepChildren })}`;
    await call(service, { method: 'DELETE', path });
    return done(out, [`revoked ${printable(id)}`]);
  },
});

interface RotateFlags extends ServiceFlags {
  overlap?: number;
}

/** `yardmaster keys rotate`: gives an API key a new secret, and prints it. */
const rotateKeyCommand = defineCommand({
  name: 'keys rotate',
  example: 'keys rotate $KEY_ID --overlap 1h',
  define: (command) =>
    withServiceOptions(
      command
        .description('Give an API key a new secret, and print the key. It is never shown again.')
        .argument('<keyId>', 'ID of the key, from "keys list"')
        .option(
          '--overlap <time>',
          `how long the old secret keeps working; 0 revokes it immediately (default: ${LIMITS.overlapSecondsDefault}s)`,
          secondsOf,
        ),
    )
      .option('--json', 'print the key with all its fields as one line of JSON')
      .addHelpText('after', HELP),
  parse(line: CommandLine<RotateFlags>) {
    const { overlap: overlapSeconds = null } = line.flags; // Null for the service's default.
    return { ...idIn(line, 'rotating a key', 'keys:manage'), overlapSeconds };
  },
  async run({ service, id, overlapSeconds, isJson }, { out, err }) {
    const path = `keys/${encodeURIComponent(id)}/rotate`;
    const body = overlapSeconds === null ? {} : { overlapSeconds };
    // Sent once: a second rotation would invalidate the secret that is in use now.
    const rotated = await call<CreatedApiKey>(service, { isOnce: true, method: 'POST', path, body });
    if (typeof rotated?.key !== 'string') throw new Refused('the response is not an API key');
    out.write(`${isJson ? jsonLine(rotated) : printable(rotated.key)}\n`);
    const seconds = overlapSeconds ?? LIMITS.overlapSecondsDefault;
    if (!isJson) err.write(`the old secret ${seconds === 0 ? 'no longer works' : `keeps working for ${seconds} s`}\n`);
    return DONE;
  },
});

/** `yardmaster keys self`: shows the current API key, without its secret. */
const ownKeyCommand = defineCommand({
  name: 'keys self',
  example: 'keys self',
  define: (command) =>
    withServiceOptions(command.description('Show what the current API key may do, without its secret.'))
      .option('--json', 'print the key as one line of JSON')
      .addHelpText('after', `\n${exitCodesHelp(CALL_EXIT)}`),
  parse: (line: CommandLine<ServiceFlags>) => serviceIn(line, 'showing a key', null),
  async run({ service, isJson }, { out }) {
    const key = await call<OwnApiKey>(service, { path: 'keys/self' });
    if (typeof key?.id !== 'string') throw new Refused('the response is not an API key');
    out.write(isJson ? `${jsonLine(key)}\n` : linesOf(key));
    return DONE;
  },
});

type Row = [what: string, value: string];

function linesOf({
  id,
  name,
  spaceId,
  scopes,
  expiresAt,
  createdAt,
  createdBy,
  lastUsedAt,
  limits,
}: OwnApiKey): string {
  // ADMIN_API_KEY isn't stored, so the service doesn't know when it was created or used.
  const lastUse: Row[] = createdAt === null ? [] : [['last used', lastUsedAt ?? '-']];
  const rows: Row[] = [
    ['id', id],
    ['name', name],
    ['space', spaceId ?? 'every space'],
    ['scopes', scopes.join(',')],
    ['expires', expiresAt ?? 'never'],
    ...(createdBy === undefined ? [] : [['created by', createdBy] as Row]),
    ...lastUse,
    ['limits', limits === undefined ? 'none' : `${limits.perSecond} calls per second, ${limits.burst} at once`],
  ];
  return rows.map(([what, value]) => `${what.padEnd(10)} ${printable(value)}\n`).join('');
}

/** Commands for API keys, in the order of the help. */
export const keyCommands = [createKeyCommand, listKeysCommand, rotateKeyCommand, revokeKeyCommand, ownKeyCommand];

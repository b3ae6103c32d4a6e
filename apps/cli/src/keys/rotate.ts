import { type CreatedApiKey, LIMITS, type OwnApiKey } from '@yardmaster/protocol';
import { type CliCommand, UsageError } from '../command.js';
import { CALL_EXIT, exitCodesHelp } from '../exit-codes.js';
import { secondsOf } from '../flag-values.js';
import { expectKey, type ServiceFlags, serviceOf, withServiceOptions } from '../flags.js';
import { callJson, mayPassOnce, Refused } from '../service/call.js';
import type { Service } from '../service/service.js';
import { printable, printableJson } from '../terminal/printable.js';

interface RotateFlags extends ServiceFlags {
  overlap?: number;
  json?: boolean;
}

/** Parsed command line of `keys rotate`. */
export interface RotateKeyRequest {
  service: Service;
  keyId: string;
  /** Null for that of the service. */
  overlapSeconds: number | null;
  isJson: boolean;
}

/** `yardmaster keys rotate`: gives an API key a new secret, and prints it. */
export const rotateKeyCommand: CliCommand<RotateKeyRequest, RotateFlags> = {
  name: 'keys rotate',
  define: (command) =>
    withServiceOptions(
      command
        .description('Give an API key a new secret, and print the key. It is shown only now.')
        .argument('<keyId>', 'id of the key, as `keys list` shows it')
        .option(
          '--overlap <seconds>',
          `how long the present secret still works; 0 ends it at once (default: ${LIMITS.overlapSecondsDefault})`,
          secondsOf,
        ),
    )
      .option('--json', 'print the key with all its fields as one line of JSON')
      .addHelpText('after', `\nNeeds a key with keys:manage.\n${exitCodesHelp(CALL_EXIT)}`),
  parse([keyId = ''], flags, env) {
    const service = serviceOf(flags, env);
    if (keyId === '') throw new UsageError('the id is empty');
    expectKey(service, 'rotating a key', 'keys:manage');
    return { service, keyId, overlapSeconds: flags.overlap ?? null, isJson: flags.json ?? false };
  },
  async run({ service, keyId, overlapSeconds, isJson }, { out, err }) {
    const path = `keys/${encodeURIComponent(keyId)}/rotate`;
    const body = overlapSeconds === null ? {} : { overlapSeconds };
    // A second rotation would end the secret that is in use now.
    const rotated = await callJson<CreatedApiKey>(service, { method: 'POST', path, body }, { isPassing: mayPassOnce });
    if (typeof rotated?.key !== 'string') throw new Refused('the response is not an API key');
    out.write(`${isJson ? printableJson(JSON.stringify(rotated)) : printable(rotated.key)}\n`);
    const seconds = overlapSeconds ?? LIMITS.overlapSecondsDefault;
    if (!isJson) err.write(`the secret before it ${seconds === 0 ? 'has ended' : `ends in ${seconds} s`}\n`);
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

/** Parsed command line of `keys self`. */
export interface OwnKeyRequest {
  service: Service;
  isJson: boolean;
}

/** `yardmaster keys self`: shows the API key in use, without its secret. */
export const ownKeyCommand: CliCommand<OwnKeyRequest, ServiceFlags & { json?: boolean }> = {
  name: 'keys self',
  define: (command) =>
    withServiceOptions(command.description('Show what the API key in use may do, without its secret.'))
      .option('--json', 'print it as one line of JSON')
      .addHelpText('after', `\n${exitCodesHelp(CALL_EXIT)}`),
  parse(_args, flags, env) {
    const service = serviceOf(flags, env);
    expectKey(service, 'showing a key', null);
    return { service, isJson: flags.json ?? false };
  },
  async run({ service, isJson }, { out }) {
    const key = await callJson<OwnApiKey>(service, { path: 'keys/self' });
    if (typeof key?.id !== 'string') throw new Refused('the response is not an API key');
    out.write(isJson ? `${printableJson(JSON.stringify(key))}\n` : linesOf(key));
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

type Row = [what: string, value: string];

function linesOf({ id, name, spaceId, scopes, expiresAt, createdAt, lastUsedAt, limits }: OwnApiKey): string {
  // The key of ADMIN_API_KEY is not stored, so the service does not know when it was created or used.
  const lastUse: Row[] = createdAt === null ? [] : [['last used', lastUsedAt ?? '-']];
  const rows: Row[] = [
    ['id', id],
    ['name', name],
    ['space', spaceId ?? 'every space'],
    ['scopes', scopes.join(',')],
    ['expires', expiresAt ?? 'never'],
    ...lastUse,
    ['limits', limits === undefined ? 'none' : `${limits.perSecond} calls per second, ${limits.burst} at once`],
  ];
  return rows.map(([what, value]) => `${what.padEnd(9)} ${printable(value)}\n`).join('');
}

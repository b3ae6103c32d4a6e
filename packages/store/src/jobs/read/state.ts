import { type CreateJobRequest, RECORD_DEFAULTS, type Status } from '@yardmaster/protocol';

/** The field `state` of a record, which every transition reads and writes; see lua/state.lua. */
export interface State {
  status: Status;
  /** Creation order. floor(order / 1,024) is the time in epoch milliseconds. */
  order: string;
  /** Number of attempts started since the creation or the last requeue. */
  attempt: number;
  /** Number of delivery timeouts, releases and requeues. */
  returns: number;
  /** Seq of the newest event. */
  seq: number;
  /** Epoch milliseconds; null if the job has not changed since its creation. */
  updatedAt: string | null;
  maxRetries: number;
  timeoutSeconds: number;
  spaceId: string;
  name: string;
}

/** Names of the parts of a state, in order. */
export const STATE_PARTS = [
  'status',
  'order',
  'attempt',
  'returns',
  'seq',
  'updatedAt',
  'maxRetries',
  'timeoutSeconds',
  'flags',
  'space',
  'name',
] as const;

/** Pattern of a state, the same as STATE in lua/state.lua. */
const STATE = /^([a-z]+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\S+) (\S+) (\S+) (.+)$/s;

/** Split a state into its parts. @returns the value of each of STATE_PARTS; null for an invalid state */
export const statePartsOf = (text: string): string[] | null => STATE.exec(text)?.slice(1) ?? null;

/** Parse a state. @throws Error for an invalid state */
export function stateOf(text: string): State {
  const parts = statePartsOf(text);
  if (parts === null) throw new Error('the state of a job record is not valid');
  const [status, order, attempt, returns, seq, updatedAt, maxRetries, timeoutSeconds, , spaceId, name] = parts;
  return {
    status: status as Status,
    order: order as string,
    attempt: Number(attempt),
    returns: Number(returns),
    seq: Number(seq),
    updatedAt: updatedAt === '0' ? null : (updatedAt as string),
    maxRetries: Number(maxRetries),
    timeoutSeconds: Number(timeoutSeconds),
    spaceId: spaceId as string,
    name: name as string,
  };
}

/** Flags of the fields that transitions look for; see lua/state.lua. */
const FLAGS: Record<string, string> = {
  unique: 'u',
  callbackUrl: 'c',
  tags: 't',
  priority: 'p',
  startWithinSeconds: 's',
  maxRunSeconds: 'm',
  retry: 'r',
};

/** Format the options in the state of a new job. @param fields fields of its record (name, value, …) */
export function optionsOf(
  { maxRetries = RECORD_DEFAULTS.maxRetries, timeoutSeconds = RECORD_DEFAULTS.timeoutSeconds }: CreateJobRequest,
  fields: readonly (string | number)[],
): string {
  const flags = fields.map((field, i) => (i % 2 === 0 ? (FLAGS[field] ?? '') : '')).join('');
  return `${maxRetries} ${timeoutSeconds} -${flags}`;
}

const EPOCH_RADIX = 36;

/**
 * Format the token of a pending job's next delivery: `<attempts>.<returns>.<epoch>`. The epoch is the order, so that a job
 * created later with the ID of a deleted one has other tokens.
 */
export const deliveryTokenOf = ({ attempt, returns, order }: State): string =>
  `${attempt}.${returns}.${Number(order).toString(EPOCH_RADIX)}`;

/** Format a token for scripts, with the order in decimal; '' for none. A token without an epoch matches no job. */
export function storedTokenOf(token: string | null | undefined): string {
  if (!token) return '';
  const [attempt, returns, epoch = '0'] = token.split('.');
  return `${attempt}.${returns}.${Number.parseInt(epoch, EPOCH_RADIX)}`;
}

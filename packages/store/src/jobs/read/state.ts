import { type CreateJobRequest, RECORD_DEFAULTS, type Status } from '@yardmaster/protocol';

/** The field `state` of a record, which every transition reads and writes; see lua/state.lua. */
export interface State {
  status: Status;
  /** Place by creation; its part over 1,024 is the time in epoch milliseconds. */
  order: string;
  /** Attempts started since the job was created or requeued. */
  attempt: number;
  /** Delivery timeouts, releases and requeues so far. */
  returns: number;
  /** Seq of the newest event. */
  seq: number;
  /** Epoch milliseconds; null for a job that is as it was created. */
  updatedAt: string | null;
  maxRetries: number;
  timeoutSeconds: number;
  spaceId: string;
  name: string;
}

/** Names of the parts of a state, in their order. */
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

/** The same as STATE in lua/state.lua. */
const STATE = /^([a-z]+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\S+) (\S+) (\S+) (.+)$/s;

/** Take the text of a state apart. @returns the value of each of STATE_PARTS; null for a state that is not valid */
export const statePartsOf = (text: string): string[] | null => STATE.exec(text)?.slice(1) ?? null;

/** Read the text of a state. @throws Error for one that is not valid */
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

/** The flag of each field of a record that transitions look for, see lua/state.lua. */
const FLAGS: Record<string, string> = {
  unique: 'u',
  callbackUrl: 'c',
  tags: 't',
  priority: 'p',
  startWithinSeconds: 's',
  maxRunSeconds: 'm',
  retry: 'r',
};

/** Write the end of the state of a job that a request creates. @param fields of its record, name and value in turn */
export function optionsOf(
  { maxRetries = RECORD_DEFAULTS.maxRetries, timeoutSeconds = RECORD_DEFAULTS.timeoutSeconds }: CreateJobRequest,
  fields: readonly (string | number)[],
): string {
  const flags = fields.map((field, i) => (i % 2 === 0 ? (FLAGS[field] ?? '') : '')).join('');
  return `${maxRetries} ${timeoutSeconds} -${flags}`;
}

const EPOCH_RADIX = 36;

/**
 * Write the delivery token of a pending job's next delivery: `<attempts>.<returns>.<epoch>`. The epoch is the order, so
 * that a job with the same id that is created after this one was deleted has other tokens.
 */
export const deliveryTokenOf = ({ attempt, returns, order }: State): string =>
  `${attempt}.${returns}.${Number(order).toString(EPOCH_RADIX)}`;

/** Write a delivery token as scripts take it, with the order in decimal; '' for none. One without an epoch matches no job. */
export function storedTokenOf(token: string | null | undefined): string {
  if (!token) return '';
  const [attempt, returns, epoch = '0'] = token.split('.');
  return `${attempt}.${returns}.${Number.parseInt(epoch, EPOCH_RADIX)}`;
}

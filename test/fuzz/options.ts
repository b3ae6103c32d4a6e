import { parseArgs } from 'node:util';

export interface FuzzOptions {
  /** Same seed, same requests. Default: a new one each day. */
  seed: number;
  /** Number of the first request. A request depends on the seed and its number alone. */
  from: number;
  requests: number;
  /** Requests under way at once. */
  lanes: number;
}

const SHORT = 3_000;
const FULL = 20_000;

const today = () => Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''));

function number(name: string, text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new Error(`--${name} must be a whole number`);
  return Number(text);
}

/** Read the command line; `--short` is the set that CI runs, with a seed that stays. */
export function readOptions(args: string[]): FuzzOptions {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string' },
      from: { type: 'string' },
      requests: { type: 'string' },
      lanes: { type: 'string' },
      short: { type: 'boolean' },
    },
  });
  const { seed = String(values.short ? 1 : today()), from = '0', lanes = '4' } = values;
  const { requests = String(values.short ? SHORT : FULL) } = values;
  return {
    seed: number('seed', seed),
    from: number('from', from),
    requests: number('requests', requests),
    lanes: number('lanes', lanes),
  };
}

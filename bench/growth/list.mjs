// Pages of List Jobs at the newest and at far older jobs.
import { listJobs } from '@yardmaster/store';
import { inTurns, summary } from '../meter.mjs';
import { stepByStep } from './cycle.mjs';
import { LARGEST, scaled } from './held.mjs';
import { rowsOf } from './rows.mjs';

const OFFSETS = [0, 10_000, 900_000];
const LIMITS = [20, 100];
const STATUSES = [undefined, 'pending'];

/** Pages of one turn; each takes as long as some ten other calls. */
const pagesOf = (operations) => Math.ceil(operations / 10);

/**
 * A contestant that reads page after page from an offset on, so that no page has just been read; one at a time, since the
 * verb lets few be under way.
 */
function paging(store, { status, limit, offset }, { operations, scale }) {
  const count = pagesOf(operations);
  const pages = Math.floor((scaled(LARGEST.jobs, scale) - offset) / limit);
  return {
    redis: store.redis,
    count,
    prepare: () => Array.from({ length: count }, (_, n) => offset + (n % pages) * limit),
    steps: {
      async list(offsets) {
        for (const at of offsets) {
          const page = await listJobs(store, LARGEST.spaceId, { status, limit, offset: at });
          if (page.length !== limit) throw new Error(`a page of ${limit} from ${at} on holds ${page.length}`);
        }
      },
    },
  };
}

/** What Redis' log of slow calls says of each script of one more turn, in microseconds. */
async function slowLogOf({ redis, count, prepare, steps }) {
  const pages = await prepare();
  await redis.config('SET', 'slowlog-max-len', String(8 * count), 'slowlog-log-slower-than', '0');
  await redis.slowlog('RESET');
  await steps.list(pages);
  const entries = await redis.slowlog('GET', 8 * count);
  await redis.config('SET', 'slowlog-log-slower-than', '-1');
  const micros = entries.filter(([, , , [command]]) => /^evalsha$/i.test(command)).map(([, , spent]) => spent);
  return { slowLogMicros: summary(micros).median, slowLogMicrosMost: Math.max(...micros) };
}

/** Pages of few and many jobs at small and large offsets, with and without a filter. */
export async function byOffset({ store }, options) {
  const offsets = OFFSETS.map((offset) => Math.round(offset * options.scale));
  const groups = STATUSES.flatMap((status) => LIMITS.map((limit) => ({ status, limit })));
  const contestants = {};
  const labels = groups.map(({ status, limit }) => {
    const rows = offsets.map((offset) => [`${status} ${limit} ${offset}`, { status: status ?? 'any', limit, offset }]);
    for (const [key, { offset }] of rows) contestants[key] = paging(store, { status, limit, offset }, options);
    return Object.fromEntries(rows);
  });
  const turns = await inTurns(contestants, { rounds: options.rounds }, stepByStep);
  const logged = [];
  for (const contestant of Object.values(contestants)) logged.push(await slowLogOf(contestant));
  return labels.flatMap((rows) => rowsOf(rows, turns)).map((row, i) => ({ ...row, ...logged[i] }));
}

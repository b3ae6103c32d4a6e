// Lists and polls in a space with very many other jobs.
import { listJobsQuery } from '@yardmaster/protocol';
import { ANY_SPACE, listJobs } from '@yardmaster/store';
import { upTo } from '../load/verbs.mjs';
import { compare, create, fill, poll, scaled } from './compare.mjs';
import { LARGEST } from './pending.mjs';

const OFFSETS = [0, 10_000, 900_000];
const PAGES = [
  { status: 'any', limit: 20 },
  { status: 'any', limit: 100 },
  { status: 'pending', limit: 20 },
  { status: 'pending', limit: 100 },
];

/**
 * Make a contestant that reads page after page from an offset on, so that no page has just been read. It reads one page at a
 * time, because the verb limits concurrent reads.
 */
function paging(redis, { status, limit, offset }, { operations, scale }) {
  // Each page takes as long as some ten other calls.
  const count = Math.ceil(operations / 10);
  const pages = Math.floor((scaled(LARGEST.jobs, scale) - offset) / limit);
  const asked = listJobsQuery.parse({ status: status === 'any' ? undefined : status, limit: String(limit) });
  return {
    redis,
    count,
    label: { status, limit, offset },
    prepare: () => upTo(count).map((n) => offset + (n % pages) * limit),
    steps: {
      async list(offsets) {
        for (const at of offsets) {
          const { jobs } = await listJobs(redis.store, ANY_SPACE, LARGEST.spaceId, { ...asked, offset: at });
          if (jobs.length !== limit) throw new Error(`a page of ${limit} from ${at} on has ${jobs.length} jobs`);
        }
      },
    },
  };
}

/** Compare pages of few and many jobs at small and large offsets, with and without a filter. */
export function byOffset(redis, options) {
  const offsets = OFFSETS.map((offset) => Math.round(offset * options.scale));
  const groups = PAGES.map((page) => offsets.map((offset) => paging(redis, { ...page, offset }, options)));
  return compare(groups, options);
}

/** Numbers of names in a poll, by its number of jobs, which is at most 50; 0 is no filter. */
const ASKED = { 1: [0, 1, 10, 100], 50: [0, 100] };

/** Jobs of each name that are left after the polls of a turn, so that no poll finds an empty queue. */
const LEFT_WAITING = 10;

/** Make a contestant that polls for some names. @param made names of the jobs that it must find; empty for none */
function polling(redis, { label, asked, made }, { operations }) {
  const { spaceId } = LARGEST;
  const count = Math.ceil(operations / label.wanted);
  const expected = made.length === 0 ? 0 : count * label.wanted;
  return {
    redis,
    count,
    label,
    async prepare() {
      const places = upTo(expected).map((n) => ({ spaceId, name: made[n % made.length] }));
      await create(redis, places);
      return upTo(count).map(() => ({ spaceId, asked }));
    },
    steps: {
      async poll(places) {
        const { length } = await poll(redis, places, label.wanted);
        if (length !== expected) throw new Error(`polls for ${expected} jobs found ${length}`);
      },
    },
  };
}

/** Compare polls for few and many names, with and without jobs of these names. */
export async function byFilter(redis, options) {
  const { spaceId, name: frequent } = LARGEST;
  const groups = [];
  for (const [wanted, counts] of Object.entries(ASKED).map(([key, value]) => [Number(key), value])) {
    const group = [];
    for (const names of counts) {
      const rare = upTo(names).map((n) => `rare-${names}-${wanted}-${n}`);
      await fill(redis, names * LEFT_WAITING, (n) => ({ spaceId, name: rare[n % names] }));
      const label = { names, wanted };
      const made = names === 0 ? [frequent] : rare;
      group.push(polling(redis, { label: { ...label, found: 'all' }, asked: rare, made }, options));
      if (names === 0) continue;
      const asked = rare.map((name) => `no-${name}`);
      group.push(polling(redis, { label: { ...label, found: 'none' }, asked, made: [] }, options));
    }
    groups.push(group);
  }
  return compare(groups, options);
}

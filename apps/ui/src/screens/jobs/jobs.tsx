import type { SpaceStats } from '@yardmaster/protocol';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { errorGroupsOf } from '../../live/errors.js';
import { isPaused, useStream } from '../../live/stream.js';
import { actionCount, useLoaded } from '../../live/use-loaded.js';
import { count } from '../../parts/format.js';
import { ErrorNotice } from '../../parts/notice.js';
import { Text } from '../../parts/show.js';
import { Pages } from '../../parts/table.js';
import { linkTo, linkWith, route } from '../../route.js';
import { inJson } from '../bulk.js';
import { SpaceHeading } from '../space-heading.js';
import { BulkBar } from './bulk-bar.js';
import { filterOf, unknownFilterIn } from './filter.js';
import { FilterBar } from './filter-bar.js';
import { JobList, WAITING_MAX } from './list.js';
import { JobTable } from './table.js';

const STATS_EVERY_MS = 10_000;

/** Show the jobs of a space. */
export function Jobs({ spaceId }: { spaceId: string }) {
  const unknownFilter = unknownFilterIn(route.value.query);
  if (unknownFilter === undefined) return <ListedJobs spaceId={spaceId} />;
  return (
    <>
      <SpaceHeading spaceId={spaceId} part="jobs" />
      <ErrorNotice>
        Unknown filter in the URL: <bdi>{unknownFilter}</bdi>. <a href={linkTo(['spaces', spaceId])}>Show all jobs</a>
      </ErrorNotice>
    </>
  );
}

function ListedJobs({ spaceId }: { spaceId: string }) {
  const key = String(route.value.query);
  const filter = useMemo(() => filterOf(route.value.query), [key]);
  const list = useMemo(() => new JobList(spaceId, filter), [spaceId, filter]);
  useEffect(() => {
    list.load();
    return () => list.dispose();
  }, [list]);
  const countSeen = useRef(actionCount.value);
  useEffect(() => {
    if (actionCount.value === countSeen.current) return;
    countSeen.current = actionCount.value;
    if (!isPaused.value) return; // The stream delivers the change.
    list.counts.value = null;
    list.load();
  }, [actionCount.value]);
  const { names, tags } = filter;
  useStream(`${spaceId} ${key}`, {
    path: `realtime/spaces/${segment(spaceId)}`,
    subject: { spaceId },
    query: () => ({ name: names, tag: tags, counts: 1 }),
    onMessages: (messages) => list.apply(messages),
  });
  const loadStats = (signal: AbortSignal) => call<SpaceStats>('GET', `spaces/${segment(spaceId)}/stats`, { signal });
  const stats = useLoaded(spaceId, loadStats, STATS_EVERY_MS).value.value;
  return (
    <>
      <SpaceHeading spaceId={spaceId} part="jobs" />
      <FilterBar filter={filter} counts={list.counts.value ?? stats?.jobs ?? null} names={stats?.names ?? []} />
      <ErrorNotice>{list.error.value?.message}</ErrorNotice>
      <ErrorGroups list={list} />
      <Paused spaceId={spaceId} paused={stats?.paused} />
      <BulkBar spaceId={spaceId} filter={filter} list={list}>
        <Waiting list={list} isVague={filter.q !== '' || filter.statuses.length > 0} />
      </BulkBar>
      <JobTable list={list} />
      <Pages of="the list" next={list.nextCursor.value} />
    </>
  );
}

/** Show what is paused. */
function Paused({ spaceId, paused }: { spaceId: string; paused: SpaceStats['paused'] }) {
  if (paused === undefined) return null;
  return (
    <p class="notice">
      {paused === true ? 'This space is paused' : 'Paused: '}
      {paused !== true && <bdi>{paused.join(', ')}</bdi>}. Workers cannot claim these jobs.{' '}
      {can('spaces:manage') && <a href={linkTo(['spaces', spaceId, 'settings'])}>Resume in Settings</a>}
    </p>
  );
}

/** Show how many new jobs are not in the list yet. */
function Waiting({ list, isVague }: { list: JobList; isVague: boolean }) {
  const size = list.waiting.value.size;
  return (
    <span class="waiting" role="status">
      {size > 0 && (
        <button type="button" onClick={() => list.load()}>
          {`${isVague ? 'up to ' : ''}${count(size)} ${size === WAITING_MAX ? 'or more ' : ''}new`}
        </button>
      )}
      {(isPaused.value || list.error.value !== null) && (
        <button type="button" onClick={() => list.load()}>
          Reload
        </button>
      )}
    </span>
  );
}

const GROUPS_SHOWN = 6;

/** Link the errors of the dead jobs on the page to the jobs that have them, most frequent first. */
function ErrorGroups({ list }: { list: JobList }) {
  const groups = errorGroupsOf(list.rows.value ?? []);
  if (groups.length < 2) return null;
  return (
    <nav class="groups" aria-label="Dead jobs by error">
      Dead by error:
      {groups.slice(0, GROUPS_SHOWN).map(({ error, text, ids }) => (
        <a key={text} href={linkWith({ status: 'dead', q: inJson(error), cursor: null })}>
          <Text max={60}>{text}</Text> ×{count(ids.length)}
        </a>
      ))}
      {groups.length > GROUPS_SHOWN && <span>and {count(groups.length - GROUPS_SHOWN)} others</span>}
    </nav>
  );
}

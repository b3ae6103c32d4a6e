import { useSignal } from '@preact/signals';
import type { ListedJob, SpaceStats } from '@yardmaster/protocol';
import { useEffect } from 'preact/hooks';
import { call, segment } from '../api/client.js';
import { can } from '../api/session.js';
import { setClock } from '../live/clock.js';
import { type ErrorGroup, errorGroupsOf } from '../live/errors.js';
import { type Activity, loadActivity } from '../live/history.js';
import { loadSpaces, SPACES_MAX, type Space } from '../live/spaces.js';
import { useLoaded } from '../live/use-loaded.js';
import { ask } from '../parts/act.js';
import { count, duration, jobs } from '../parts/format.js';
import { Bars, type Column, LoadError, SpaceLink, Table, Text } from '../parts/show.js';
import { linkTo } from '../route.js';
import { askForAll, inJson } from './bulk.js';
import { FirstRun } from './first-run/first-run.js';
import { pauseEffect } from './settings/pause-effect.js';

const SPACES_EVERY_MS = 3000;
const ACTIVITY_EVERY_MS = 10_000;
const GROUPS_EVERY_MS = 10_000;

/** Jobs that have waited so long while none is worked on: no worker is there. */
const UNCLAIMED_AFTER_SECONDS = 60;

const COLUMNS: Column[] = [
  { title: 'Space' },
  { title: 'Pending', isNumber: true },
  { title: 'Oldest', isNumber: true, hint: 'How long the next job has been pending' },
  { title: 'Running', isNumber: true },
  { title: 'Done/min', isNumber: true, hint: 'Completed per minute, over the last five minutes' },
  { title: 'Dead', isNumber: true, hint: 'Dead jobs that still exist' },
  { title: 'Dead 24 h', isNumber: true, hint: 'Jobs that died in the last 24 hours' },
  { title: 'Median wait', isNumber: true, hint: 'Half of the deliveries of the last hour waited at most so long' },
  { title: 'Last hour', hint: 'Jobs that ended in each minute' },
  { title: '' },
];

export function Overview() {
  const spaces = useLoaded('spaces', loadSpaces, SPACES_EVERY_MS);
  const list = spaces.value.value;
  const isFirstRun = useSignal(false);
  // It stays when its first job is there, until the person leaves it.
  useEffect(() => {
    if (list?.length === 0) isFirstRun.value = true;
  }, [list]);
  const leaveFirstRun = () => {
    isFirstRun.value = false;
  };
  if (!can('jobs:read')) return <p class="notice bad">This key lacks the scope jobs:read, so it sees no jobs.</p>;
  if (list === null) return <LoadError error={spaces.error.value} />;
  if (isFirstRun.value) return <FirstRun {...(list.length > 0 && { onLeave: leaveFirstRun })} />;
  return (
    <>
      <h1>Spaces</h1>
      <LoadError error={spaces.error.value} />
      <NeedsYou spaces={list} />
      <Table label="Spaces" columns={COLUMNS}>
        {list.map((space) => (
          <SpaceRow key={space.spaceId} space={space} />
        ))}
      </Table>
      {list.length >= SPACES_MAX && (
        <p class="hint">There are more than {count(SPACES_MAX)} spaces. Find one by its name.</p>
      )}
    </>
  );
}

function SpaceRow({ space }: { space: Space }) {
  const { spaceId, jobs, oldestPendingAgeSeconds: oldest } = space;
  const { value } = useLoaded(spaceId, (signal) => loadRow(spaceId, signal), ACTIVITY_EVERY_MS);
  const { activity, stats } = value.value ?? {};
  return (
    <tr>
      <th scope="row">
        <SpaceLink spaceId={spaceId} /> <Trouble space={space} stats={stats} />
        {activity && activity.deliveryTimeouts > 0 && (
          <span class="tag" title="Deliveries of the last hour that no worker acked in time">
            {count(activity.deliveryTimeouts)} never acked
          </span>
        )}
      </th>
      <td class="number">{count(jobs.pending)}</td>
      <td class="number">{oldest === null ? '–' : duration(oldest)}</td>
      <td class="number">{count(jobs.running)}</td>
      <td class="number">{activity ? activity.donePerMinute.toFixed(activity.donePerMinute < 10 ? 1 : 0) : '…'}</td>
      <td class="number">
        {jobs.dead > 0 ? <a href={linkTo(['spaces', spaceId], { status: 'dead' })}>{count(jobs.dead)}</a> : 0}
      </td>
      <td class="number">{activity ? count(activity.deadOfDay) : '…'}</td>
      <td class="number">{medianText(activity)}</td>
      <td>
        {activity && <Bars values={activity.endedPerMinute} label="Jobs that ended in each of the last 60 minutes" />}
      </td>
      <td class="acts">{can('spaces:manage') && <PauseButton spaceId={spaceId} stats={stats} />}</td>
    </tr>
  );
}

interface Row {
  activity: Activity;
  stats: SpaceStats;
}

async function loadRow(spaceId: string, signal: AbortSignal): Promise<Row> {
  const [activity, stats] = await Promise.all([
    loadActivity(spaceId, signal),
    call<SpaceStats>('GET', `spaces/${segment(spaceId)}/stats`, { query: { limit: 1 }, signal }),
  ]);
  setClock(stats.timestamp);
  return { activity, stats };
}

function medianText(activity: Activity | undefined): string {
  if (activity === undefined) return '…';
  const { medianWaitSeconds: seconds } = activity;
  if (seconds === null) return '–';
  return Number.isFinite(seconds) ? `≤ ${duration(seconds)}` : '> 1 d';
}

/** Say that a space is paused, or that no worker takes its jobs. */
function Trouble({ space, stats }: { space: Space; stats: SpaceStats | undefined }) {
  const { pending, delivered, running } = space.jobs;
  const oldest = space.oldestPendingAgeSeconds ?? 0;
  if (stats?.paused === true) return <span class="tag">paused</span>;
  if (stats?.paused) {
    const { length } = stats.paused;
    return (
      <span class="tag" title={stats.paused.join(', ')}>
        {length === 1 ? '1 name' : `${length} names`} paused
      </span>
    );
  }
  const isUnclaimed = pending > 0 && delivered + running === 0 && oldest >= UNCLAIMED_AFTER_SECONDS;
  return isUnclaimed ? <strong class="tag bad">nothing claimed for {duration(oldest)}</strong> : null;
}

function PauseButton({ spaceId, stats }: { spaceId: string; stats: SpaceStats | undefined }) {
  if (stats === undefined) return null;
  const verb = stats.paused === true ? 'Resume' : 'Pause';
  const act = () =>
    ask({
      title: `${verb} the space ${spaceId}?`,
      verb,
      children: (
        <p>
          {pauseEffect(verb, null)} Pending now: {jobs(stats.jobs.pending)}.
        </p>
      ),
      run: async () => {
        await call('POST', `spaces/${segment(spaceId)}/${verb.toLowerCase()}`);
        return `${verb}d ${spaceId}`;
      },
    });
  return (
    <button type="button" onClick={act} aria-label={`${verb} ${spaceId}`}>
      {verb}
    </button>
  );
}

/** Dead jobs of a space that have the same error, of its newest hundred. */
type DeadGroup = ErrorGroup & { spaceId: string };

/** Spaces whose dead jobs are grouped: those with most of them. */
const GROUPED_SPACES = 5;

/** Most groups that are shown. */
const GROUPS = 6;

/** What a person should look at: dead jobs by their error. */
function NeedsYou({ spaces }: { spaces: Space[] }) {
  const worst = spaces
    .filter(({ jobs }) => jobs.dead > 0)
    .sort((a, b) => b.jobs.dead - a.jobs.dead)
    .slice(0, GROUPED_SPACES);
  const loadGroups = async (signal: AbortSignal) => {
    const groups = await Promise.all(worst.map(({ spaceId }) => loadDeadGroups(spaceId, signal)));
    return groups.flat().sort((a, b) => b.size - a.size);
  };
  const { value } = useLoaded(worst.map(({ spaceId }) => spaceId).join(), loadGroups, GROUPS_EVERY_MS);
  const groups = value.value ?? [];
  if (groups.length === 0) return null;
  return (
    <section aria-labelledby="dead-by-error" class="dead-jobs">
      <h2 id="dead-by-error">Dead jobs by error</h2>
      <ul>
        {groups.slice(0, GROUPS).map((group) => (
          <DeadGroupItem key={`${group.spaceId} ${group.text}`} {...group} />
        ))}
      </ul>
      {groups.length > GROUPS && <p class="hint">and {count(groups.length - GROUPS)} other errors</p>}
    </section>
  );
}

function DeadGroupItem({ spaceId, error, text, size }: DeadGroup) {
  return (
    <li>
      <SpaceLink spaceId={spaceId} />
      <a href={linkTo(['spaces', spaceId], { status: 'dead', q: inJson(error) })}>
        {jobs(size)} dead by <Text max={120}>{text}</Text>
      </a>{' '}
      {can('jobs:manage') && (
        <button type="button" onClick={() => askForAll(spaceId, 'requeue', { status: ['dead'], q: inJson(error) })}>
          Requeue all of these …
        </button>
      )}
    </li>
  );
}

async function loadDeadGroups(spaceId: string, signal: AbortSignal): Promise<DeadGroup[]> {
  const query = { status: 'dead', limit: 100 };
  const dead = await call<ListedJob[]>('GET', `spaces/${segment(spaceId)}/jobs`, { query, signal });
  return errorGroupsOf(dead).map((group) => ({ spaceId, ...group }));
}

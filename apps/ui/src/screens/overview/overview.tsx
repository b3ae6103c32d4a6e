import { useSignal } from '@preact/signals';
import type { ListedJob } from '@yardmaster/protocol';
import { useEffect } from 'preact/hooks';
import { call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { type ErrorGroup, errorGroupsOf } from '../../live/errors.js';
import { loadSpaces, SPACES_MAX, type Space } from '../../live/spaces.js';
import { useLoaded } from '../../live/use-loaded.js';
import { count, jobs } from '../../parts/format.js';
import { ErrorNotice } from '../../parts/notice.js';
import { SpaceLink, Text } from '../../parts/show.js';
import { type Head, TableFrame } from '../../parts/table.js';
import { linkTo } from '../../route.js';
import { confirmForAll, type Filter, inJson } from '../bulk.js';
import { FirstRun } from '../first-run/first-run.js';
import { SpaceRow } from './space-row.js';

const HEADS: Head[] = [
  { title: 'Space' },
  { title: 'Pending', isNumber: true },
  { title: 'Oldest', isNumber: true, hint: 'How long the oldest pending job has waited' },
  { title: 'Running', isNumber: true },
  { title: 'Done/min', isNumber: true, hint: 'Completed jobs per minute, over the last five minutes' },
  { title: 'Dead', isNumber: true, hint: 'Dead jobs that are still stored' },
  { title: 'Dead 24 h', isNumber: true, hint: 'Jobs that died in the last 24 hours' },
  { title: 'Median wait', isNumber: true, hint: 'Median time from claimable to claimed in the last hour' },
  { title: 'Last hour', hint: 'Jobs that ended, by minute' },
  { title: '' },
];

const SPACES_EVERY_MS = 3000;

export function Overview() {
  const spaces = useLoaded('spaces', loadSpaces, SPACES_EVERY_MS);
  const list = spaces.value.value;
  const isFirstRun = useSignal(false);
  // Keep it open after the first job, until the user leaves it.
  useEffect(() => {
    if (list?.length === 0) isFirstRun.value = true;
  }, [list]);
  if (!can('jobs:read')) return <p class="notice bad">This key lacks the scope jobs:read, so you cannot see jobs.</p>;
  if (list === null) return <ErrorNotice>{spaces.error.value?.message}</ErrorNotice>;
  if (isFirstRun.value) return <FirstRun {...(list.length > 0 && { onLeave: () => (isFirstRun.value = false) })} />;
  return (
    <>
      <h1>Spaces</h1>
      <ErrorNotice>{spaces.error.value?.message}</ErrorNotice>
      <DeadByError spaces={list} />
      <TableFrame label="Spaces" heads={HEADS}>
        {list.map((space) => (
          <SpaceRow key={space.spaceId} space={space} />
        ))}
      </TableFrame>
      {list.length >= SPACES_MAX && (
        <p class="hint">Only {count(SPACES_MAX)} spaces are listed. Open any other by its URL.</p>
      )}
    </>
  );
}

/** Number of dead jobs to read in each space, newest first. */
const LOOKED_AT = 100;

/** Dead jobs of a space with the same error. */
interface DeadGroup extends ErrorGroup {
  spaceId: string;
  /** Whether all dead jobs of the space were read. */
  isWhole: boolean;
}

/** Number of spaces whose dead jobs are grouped: those with the most dead jobs. */
const GROUPED_SPACES = 5;

/** Maximum number of groups to show. */
const GROUPS = 6;

const DEAD_EVERY_MS = 10_000;

/** Show the errors of dead jobs, with the number of jobs that have each. */
function DeadByError({ spaces }: { spaces: Space[] }) {
  const worst = spaces
    .filter(({ jobs }) => jobs.dead > 0)
    .sort((a, b) => b.jobs.dead - a.jobs.dead)
    .slice(0, GROUPED_SPACES);
  const loadGroups = async (signal: AbortSignal) => {
    const groups = await Promise.all(worst.map(({ spaceId }) => loadDeadGroups(spaceId, signal)));
    return groups.flat().sort((a, b) => b.ids.length - a.ids.length);
  };
  const { value } = useLoaded(worst.map(({ spaceId }) => spaceId).join(), loadGroups, DEAD_EVERY_MS);
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

function DeadGroupItem({ spaceId, error, text, ids, isWhole }: DeadGroup) {
  // If not all dead jobs were read, search by the error. This also finds jobs with that text in their payload.
  const filter: Filter = { status: ['dead'], ...(isWhole ? { ids } : { q: inJson(error) }) };
  return (
    <li>
      <SpaceLink spaceId={spaceId} />
      <a href={linkTo(['spaces', spaceId], { status: 'dead', q: inJson(error) })}>
        {jobs(ids.length)} failed with <Text max={120}>{text}</Text>
      </a>{' '}
      {can('jobs:manage') && (
        <button
          type="button"
          aria-label={`Requeue all… ${spaceId}: ${text.slice(0, 120)}`}
          onClick={() => confirmForAll(spaceId, 'requeue', filter)}
        >
          Requeue all…
        </button>
      )}
    </li>
  );
}

async function loadDeadGroups(spaceId: string, signal: AbortSignal): Promise<DeadGroup[]> {
  const query = { status: 'dead', limit: LOOKED_AT };
  const dead = await call<ListedJob[]>('GET', `spaces/${segment(spaceId)}/jobs`, { query, signal });
  const isWhole = dead.length < LOOKED_AT;
  return errorGroupsOf(dead).map((group) => ({ spaceId, isWhole, ...group }));
}

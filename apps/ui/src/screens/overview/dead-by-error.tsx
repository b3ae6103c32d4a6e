import type { ListedJob } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { type ErrorGroup, errorGroupsOf } from '../../live/errors.js';
import type { Space } from '../../live/spaces.js';
import { useLoaded } from '../../live/use-loaded.js';
import { count, jobs } from '../../parts/format.js';
import { SpaceLink, Text } from '../../parts/show.js';
import { linkTo } from '../../route.js';
import { confirmForAll, type Filter, inJson } from '../bulk.js';

/** Dead jobs that are looked at in each space, the newest. */
const LOOKED_AT = 100;

/** Dead jobs of a space that have the same error. */
interface DeadGroup extends ErrorGroup {
  spaceId: string;
  /** Whether all dead jobs of the space were looked at. */
  isWhole: boolean;
}

/** Spaces whose dead jobs are grouped: those with most of them. */
const GROUPED_SPACES = 5;

/** Most groups that are shown. */
const GROUPS = 6;

const EVERY_MS = 10_000;

/** The errors of dead jobs, and how many jobs each has. */
export function DeadByError({ spaces }: { spaces: Space[] }) {
  const worst = spaces
    .filter(({ jobs }) => jobs.dead > 0)
    .sort((a, b) => b.jobs.dead - a.jobs.dead)
    .slice(0, GROUPED_SPACES);
  const loadGroups = async (signal: AbortSignal) => {
    const groups = await Promise.all(worst.map(({ spaceId }) => loadDeadGroups(spaceId, signal)));
    return groups.flat().sort((a, b) => b.ids.length - a.ids.length);
  };
  const { value } = useLoaded(worst.map(({ spaceId }) => spaceId).join(), loadGroups, EVERY_MS);
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
  // Without all ids, a search by the text finds the others, and also jobs that have it in their payload.
  const filter: Filter = { status: ['dead'], ...(isWhole ? { ids } : { q: inJson(error) }) };
  return (
    <li>
      <SpaceLink spaceId={spaceId} />
      <a href={linkTo(['spaces', spaceId], { status: 'dead', q: inJson(error) })}>
        {jobs(ids.length)} dead by <Text max={120}>{text}</Text>
      </a>{' '}
      {can('jobs:manage') && (
        <button
          type="button"
          aria-label={`Requeue all of these … ${spaceId}: ${text.slice(0, 120)}`}
          onClick={() => confirmForAll(spaceId, 'requeue', filter)}
        >
          Requeue all of these …
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

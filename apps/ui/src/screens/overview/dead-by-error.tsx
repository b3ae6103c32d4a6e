import type { ListedJob } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { type ErrorGroup, errorGroupsOf } from '../../live/errors.js';
import type { Space } from '../../live/spaces.js';
import { useLoaded } from '../../live/use-loaded.js';
import { count, jobs } from '../../parts/format.js';
import { SpaceLink, Text } from '../../parts/show.js';
import { linkTo } from '../../route.js';
import { askForAll, inJson } from '../bulk.js';

/** Dead jobs of a space that have the same error, of its newest hundred. */
type DeadGroup = ErrorGroup & { spaceId: string };

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
    return groups.flat().sort((a, b) => b.size - a.size);
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

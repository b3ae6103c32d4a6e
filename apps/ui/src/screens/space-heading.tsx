import { can } from '../api/session.js';
import { Text } from '../parts/show.js';
import { linkTo } from '../route.js';

const TITLES = { jobs: 'Jobs', operations: 'Operations', settings: 'Settings' };
type Part = keyof typeof TITLES;

/** Show the title of a page of a space, with links to its other pages. */
export function SpaceHeading({ spaceId, part }: { spaceId: string; part: Part }) {
  const parts = Object.keys(TITLES) as Part[];
  const shown = parts.filter((one) => one !== 'settings' || can('spaces:manage') || can('keys:manage'));
  return (
    <div class="heading">
      <h1>
        <Text>{spaceId}</Text>
      </h1>
      <nav aria-label="Pages of the space">
        {shown.map((one) => (
          <a
            key={one}
            href={linkTo(one === 'jobs' ? ['spaces', spaceId] : ['spaces', spaceId, one])}
            aria-current={one === part ? 'page' : undefined}
          >
            {TITLES[one]}
          </a>
        ))}
      </nav>
    </div>
  );
}

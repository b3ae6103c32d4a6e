import { can } from '../api/session.js';
import { Text } from '../parts/show.js';
import { linkTo } from '../route.js';

export type SpacePart = 'jobs' | 'operations' | 'settings';

const PARTS: readonly { part: SpacePart; title: string }[] = [
  { part: 'jobs', title: 'Jobs' },
  { part: 'operations', title: 'Operations' },
  { part: 'settings', title: 'Settings' },
];

/** Title of a page of a space, and links to its other pages. */
export function SpaceHeading({ spaceId, part }: { spaceId: string; part: SpacePart }) {
  const shown = PARTS.filter((one) => one.part !== 'settings' || can('spaces:manage') || can('keys:manage'));
  return (
    <div class="heading">
      <h1>
        <Text>{spaceId}</Text>
      </h1>
      <nav aria-label="Pages of the space">
        {shown.map((one) => (
          <a
            key={one.part}
            href={linkTo(one.part === 'jobs' ? ['spaces', spaceId] : ['spaces', spaceId, one.part])}
            aria-current={one.part === part ? 'page' : undefined}
          >
            {one.title}
          </a>
        ))}
      </nav>
    </div>
  );
}

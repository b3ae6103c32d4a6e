import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { can } from '../../api/session.js';
import { loadSpaces, SPACES_MAX } from '../../live/spaces.js';
import { useLoaded } from '../../live/use-loaded.js';
import { count } from '../../parts/format.js';
import { ErrorNotice } from '../../parts/notice.js';
import { type Column, Table } from '../../parts/show.js';
import { FirstRun } from '../first-run/first-run.js';
import { DeadByError } from './dead-by-error.js';
import { SpaceRow } from './space-row.js';

const COLUMNS: Column[] = [
  { title: 'Space' },
  { title: 'Pending', isNumber: true },
  { title: 'Oldest', isNumber: true, hint: 'How long the next job has been pending' },
  { title: 'Running', isNumber: true },
  { title: 'Done/min', isNumber: true, hint: 'Completed per minute, over the last five minutes' },
  { title: 'Dead', isNumber: true, hint: 'Dead jobs that still exist' },
  { title: 'Dead 24 h', isNumber: true, hint: 'Jobs that died in the last 24 hours' },
  { title: 'Median wait', isNumber: true, hint: 'Median time from claimable to claimed, last hour' },
  { title: 'Last hour', hint: 'Jobs that ended in each minute' },
  { title: '' },
];

const SPACES_EVERY_MS = 3000;

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
  if (list === null) return <ErrorNotice>{spaces.error.value?.message}</ErrorNotice>;
  if (isFirstRun.value) return <FirstRun {...(list.length > 0 && { onLeave: leaveFirstRun })} />;
  return (
    <>
      <h1>Spaces</h1>
      <ErrorNotice>{spaces.error.value?.message}</ErrorNotice>
      <DeadByError spaces={list} />
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

import { type Signal, useSignal } from '@preact/signals';
import type { SpaceStats } from '@yardmaster/protocol';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { setClock } from '../../live/clock.js';
import { type Activity, loadActivity, type Space } from '../../live/spaces.js';
import { useLoaded } from '../../live/use-loaded.js';
import { confirm } from '../../parts/dialog.js';
import { count, duration, jobs } from '../../parts/format.js';
import { Bars, SpaceLink } from '../../parts/show.js';
import { linkTo } from '../../route.js';
import { pauseEffect } from '../settings/pause.js';

const EVERY_MS = 10_000;

/** Age of the oldest pending job, in seconds, from which a space without claimed jobs is marked as unclaimed. */
const UNCLAIMED_AFTER_SECONDS = 60;

export function SpaceRow({ space }: { space: Space }) {
  const { spaceId, jobs, oldestPendingAgeSeconds: oldest } = space;
  const row = useRef<HTMLTableRowElement>(null);
  const isVisible = useVisible(row);
  const load = isVisible.value ? (signal: AbortSignal) => loadRow(spaceId, signal) : null;
  const { value } = useLoaded(spaceId, load, EVERY_MS);
  const { activity, stats } = value.value ?? {};
  return (
    <tr ref={row}>
      <th scope="row">
        <SpaceLink spaceId={spaceId} /> <Trouble space={space} stats={stats} />
        {activity && activity.deliveryTimeouts > 0 && (
          <span class="tag" title="Deliveries in the last hour that no worker acked in time">
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
      <td class="actions">{can('spaces:manage') && <PauseButton spaceId={spaceId} stats={stats} />}</td>
    </tr>
  );
}

async function loadRow(spaceId: string, signal: AbortSignal) {
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

/** Show that a space is paused, or that no worker claims its jobs. */
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
  const confirmPause = () =>
    confirm({
      title: `${verb} the space ${spaceId}?`,
      verb,
      children: (
        <p>
          {pauseEffect(verb, null)} Pending: {jobs(stats.jobs.pending)}.
        </p>
      ),
      run: async () => {
        await call('POST', `spaces/${segment(spaceId)}/${verb.toLowerCase()}`);
        return `${verb}d ${spaceId}`;
      },
    });
  return (
    <button type="button" onClick={confirmPause} aria-label={`${verb} ${spaceId}`}>
      {verb}
    </button>
  );
}

/** Return whether an element is in the viewport. It must exist from the first render. */
function useVisible(element: RefObject<Element | null>): Signal<boolean> {
  const isVisible = useSignal(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      isVisible.value = entries.at(-1)?.isIntersecting ?? false;
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return isVisible;
}

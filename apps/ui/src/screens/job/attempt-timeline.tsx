import { duration, secondsBetween } from '../../parts/format.js';
import { type HistoryEvent, type Stretch, stretchesOf } from './attempts.js';

const NAMES = { waiting: 'wait', delivered: 'delivered' };

/** Draw the life of a job on a timeline: waits and attempts, with progress reports and checkpoints as ticks. */
export function AttemptTimeline({ events }: { events: readonly HistoryEvent[] }) {
  const stretches = stretchesOf(events);
  return (
    <ol class="timeline" aria-label="Waits and attempts">
      {stretches.map((stretch) => (
        <StretchBlock key={stretch.from + stretch.kind} stretch={stretch} />
      ))}
    </ol>
  );
}

const WIDE_ENOUGH_FOR_TICKS = 400;

function StretchBlock({ stretch }: { stretch: Stretch }) {
  const { kind, attempt, from, to, end, ticks } = stretch;
  const seconds = secondsBetween(from, to);
  const name = kind === 'running' ? `attempt ${attempt}` : NAMES[kind];
  const place = (at: string) => (seconds > 0 ? Math.min(100, (secondsBetween(from, at) / seconds) * 100) : 0);
  return (
    // The width is the square root of the time, so that long waits don't hide short attempts.
    <li class={`${kind} ${end ?? 'now'}`} style={{ flexGrow: Math.sqrt(Math.max(1, seconds)) }}>
      <span>
        {name} {duration(seconds)} {endText(end)}
      </span>
      {ticks.length > 0 && (
        <svg
          viewBox="0 0 100 4"
          preserveAspectRatio="none"
          role="img"
          aria-label={`${ticks.length} progress reports and checkpoints`}
        >
          {ticks.slice(-WIDE_ENOUGH_FOR_TICKS).map(({ type, at }) => (
            <rect key={type + at} class={type} x={place(at)} y={0} width={0.5} height={4} />
          ))}
        </svg>
      )}
    </li>
  );
}

function endText(end: Stretch['end']): string {
  if (end === null) return '…';
  if (end === 'delivered' || end === 'acked') return '';
  if (end === 'completed') return '✓';
  return end === 'retried' ? '✕ failed' : `✕ ${end.replace('_', ' ')}`;
}

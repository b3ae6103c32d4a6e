import { useSignal } from '@preact/signals';
import type { Job, Progress, Status } from '@yardmaster/protocol';
import { linkTo } from '../route.js';
import { count, duration, secondsBetween, shortId, timeText } from './format.js';

/**
 * Show untrusted text on one line. It is isolated, so that right-to-left text doesn't affect its surroundings. Text that
 * doesn't fit is cut, and shown in the tooltip.
 */
export function Text({ children, max = 300 }: { children: string; max?: number }) {
  return (
    <bdi class="text" title={children.slice(0, 2000)}>
      {children.slice(0, max)}
    </bdi>
  );
}

/** Show a status, always with its name, because not everybody can tell colors apart. */
export function StatusMark({ status }: { status: Status }) {
  return <span class={`status ${status}`}>{status}</span>;
}

/** Show a time, with the date and the time zone in the tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {timeText(at)}
    </time>
  );
}

/** Show how long ago a time was, updated live. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {duration(secondsBetween(at))} ago
    </time>
  );
}

/** Return the latest progress of a job. A completed job is at 100%, whatever its worker last reported. */
export const progressOf = ({ status, progress }: Pick<Job, 'status' | 'progress'>): Progress | undefined =>
  status === 'completed' && progress !== undefined ? { ...progress, percent: 100 } : progress;

/** Show progress as a bar. */
export function ProgressBar({ progress, label }: { progress: Progress | undefined; label: string }) {
  if (progress === undefined) return <span class="none">–</span>;
  return (
    <span class="progress">
      <progress max={100} value={progress.percent} aria-label={`Progress of ${label}`} />
      <span class="number">{Math.floor(progress.percent)}%</span> <Text max={80}>{progress.message}</Text>
    </span>
  );
}

/** Show the stages of a progress report, one bar each. */
export function Stages({ progress }: { progress: Progress | undefined }) {
  const stages = Object.entries(progress?.subProgress ?? {});
  if (stages.length === 0) return null;
  return (
    <dl class="stages">
      {stages.map(([name, { percent, message = '' }]) => (
        <div key={name}>
          <dt>
            <Text>{name}</Text>
          </dt>
          <dd>
            <ProgressBar progress={{ percent, message }} label={`stage ${name}`} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function JobLink({ id }: { id: string }) {
  return (
    <a class="id" href={linkTo(['jobs', id])} title={id} data-row>
      {shortId(id)}
    </a>
  );
}

export function SpaceLink({ spaceId }: { spaceId: string }) {
  return (
    <a href={linkTo(['spaces', spaceId])} data-row>
      <Text>{spaceId}</Text>
    </a>
  );
}

/** Show counts as bars, oldest first, with the values as text for screen readers. */
export function Bars({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values);
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${values.length * 4} 16`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${values.map(count).join(', ')}`}
    >
      <title>{label}</title>
      {values.map((value, i) => {
        const height = value === 0 ? 1 : Math.max(2, (value / most) * 16);
        return <rect key={i} x={i * 4} y={16 - height} width={3} height={height} />;
      })}
    </svg>
  );
}

interface CopyProps {
  text: string;
  /** What is copied, for screen readers: `ID`. */
  label: string;
}

/** Render a button that copies a text and confirms it. */
export function CopyButton({ text, label }: CopyProps) {
  const state = useSignal<'' | 'Copied' | 'Select the text to copy it'>('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = 'Copied';
    } catch {
      state.value = 'Select the text to copy it'; // Without HTTPS, browsers don't let pages copy.
    }
  };
  return (
    <>
      <button type="button" onClick={copy}>
        Copy<span class="hidden"> {label}</span>
      </button>{' '}
      <span role="status">{state.value}</span>
    </>
  );
}

/** Show a text with a button that copies it. */
export function Copyable({ text, label }: CopyProps) {
  return (
    <span class="copyable">
      <code>{text}</code> <CopyButton text={text} label={label} />
    </span>
  );
}

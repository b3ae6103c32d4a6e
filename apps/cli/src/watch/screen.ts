import { type Progress, type Status, WAITS_AGAIN_EVENTS } from '@yardmaster/protocol';
import type { StreamMessage } from '../service/message.js';
import { bold, type Color, colorOf, dim, plain, yellow } from '../terminal/color.js';
import { clip, localMoment, pad, widthOf } from '../terminal/printable.js';

/** The known state of a watched job. */
export interface JobView {
  jobId: string;
  /** Null until a message contains it. */
  jobName: string | null;
  /** Null while unknown. With progress scope, it stays null until the job completes. */
  status: Status | null;
  /** Latest progress of this attempt; null before the first report. */
  progress: Progress | null;
  /** When a scheduled job becomes claimable, ISO 8601; null while unknown, and for other statuses. */
  scheduledFor: string | null;
}

/** Return the view of a job before the first message. */
export const unseen = (jobId: string): JobView => ({
  jobId,
  jobName: null,
  status: null,
  progress: null,
  scheduledFor: null,
});

/** Whether a message of this type ends an attempt and another attempt may follow. */
export const endsAttempt = (type: string) => WAITS_AGAIN_EVENTS.has(type);

/** Return the view of a job after a message. */
export function viewAfter(view: JobView, message: StreamMessage): JobView {
  // Messages with progress scope have no status, but the type `completed` shows it.
  const status = message.type === 'completed' ? 'completed' : (message.status ?? view.status);
  return {
    jobId: view.jobId,
    jobName: message.jobName ?? view.jobName,
    status,
    // The next attempt starts without progress.
    progress: endsAttempt(message.type) ? null : (message.progress ?? view.progress),
    // Messages without a time, such as those about logs, don't change it.
    scheduledFor: status === 'scheduled' ? (message.scheduledFor ?? view.scheduledFor) : null,
  };
}

interface ScreenOptions {
  columns: number;
  rows: number;
  /** Seconds since the command started. */
  elapsedSeconds: number;
  /** Why no messages arrive at the moment; null while connected. */
  lost: string | null;
}

type Part = string | [text: string, color: Color];

/** Maximum columns of a stage name. */
const NAME_COLUMNS = 24;

/**
 * Draw a job:
 *
 *     resize  4ck0…  running  1:07
 *     ██████████████░░░░░░░░░░░░░░░░   47% Resizing
 *       decode  ███████████████  100%
 *       scale   ███░░░░░░░░░░░░   25% first pass
 *
 * @returns lines, none wider than the terminal, and fewer than it has rows
 */
export function screenOf(view: JobView, options: ScreenOptions): string[] {
  const { columns, rows, lost } = options;
  const top = [headOf(view, options.elapsedSeconds), mainOf(view, columns)];
  const bottom: Part[][] = lost === null ? [] : [[[lost, yellow]]];
  // Leave the last row free for the cursor.
  const room = Math.max(0, rows - 1 - top.length - bottom.length);
  const parts = [...top, ...stagesOf(view.progress, { columns, room }), ...bottom];
  return parts.slice(0, Math.max(1, rows - 1)).map((line) => fit(line, columns));
}

function headOf({ jobId, jobName, status }: JobView, elapsedSeconds: number): Part[] {
  const head: Part[] = [];
  if (jobName !== null) head.push([jobName, bold], '  ');
  head.push(jobId, '  ');
  if (status !== null) head.push([status, colorOf(status)], '  ');
  return [...head, [clockOf(elapsedSeconds), dim]];
}

function mainOf({ status, progress, scheduledFor }: JobView, columns: number): Part[] {
  const cells = cellsFor(columns);
  // A worker may complete a job without ever reporting 100.
  const percent = status === 'completed' ? 100 : (progress?.percent ?? 0);
  const bar: Part = [barOf(percent, cells), colorOf(status ?? 'running')];
  if (scheduledFor !== null) return [bar, [` until ${localMoment(scheduledFor)}`, dim]];
  if (progress === null && status !== 'completed') return [bar, [' no progress yet', dim]];
  return [bar, percentColumn(percent), progress?.message ?? ''];
}

function stagesOf(progress: Progress | null, { columns, room }: { columns: number; room: number }): Part[][] {
  const stages = Object.entries(progress?.subProgress ?? {});
  const shown = stages.length > room ? stages.slice(0, Math.max(0, room - 1)) : stages;
  const nameColumns = Math.min(NAME_COLUMNS, Math.max(0, ...shown.map(([name]) => widthOf(name))));
  const cells = Math.floor(cellsFor(columns) / 2);
  const lines = shown.map(([name, { percent, message = '' }]): Part[] => [
    `  ${pad(clip(name, nameColumns), nameColumns)}  `,
    [barOf(percent, cells), colorOf(percent === 100 ? 'completed' : 'running')],
    percentColumn(percent),
    message,
  ]);
  const hidden = stages.length - shown.length;
  return hidden > 0 && room > 0 ? [...lines, [[`  … and ${hidden} more stages`, dim]]] : lines;
}

const percentColumn = (percent: number) => `${percentText(percent).padStart(5)} `;

/** Return the width of the main bar: at most a third of the line, to leave room for words. */
const cellsFor = (columns: number) => Math.max(8, Math.min(40, Math.floor(columns / 3)));

/** Draw a bar that is full only at 100%. */
export function barOf(percent: number, cells: number): string {
  const done = Math.floor((percent / 100) * cells);
  return '█'.repeat(done) + '░'.repeat(cells - done);
}

/** Format a percentage, rounded down so that only complete work shows 100%. */
export const percentText = (percent: number) => `${Math.floor(percent)}%`;

/** Format a time in seconds: `0:42`, `12:07`, `3:02:11`. */
export function clockOf(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (number: number) => String(number).padStart(2, '0');
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Join parts up to a width, each in its color. Clip before coloring, because a cut escape would color the rest. */
function fit(parts: Part[], columns: number): string {
  let left = columns;
  let line = '';
  for (const part of parts) {
    const [text, color] = typeof part === 'string' ? [part, plain] : part;
    const clipped = clip(text, left);
    left -= widthOf(clipped);
    line += color(clipped);
    if (clipped !== text) break;
  }
  return line.trimEnd();
}

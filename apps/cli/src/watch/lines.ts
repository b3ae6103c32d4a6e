import type { Progress } from '@yardmaster/protocol';
import type { StreamMessage } from '../service/message.js';
import { clip } from '../terminal/printable.js';

/** Columns of the details of a message in a plain line. `--json` prints all of them. */
const DETAIL_COLUMNS = 300;

/** Long enough for every type but `delivery_timeout`, so that the text after it starts in one column. */
const TYPE_COLUMNS = 13;

interface LineOptions {
  /** Whether to print the job of the message. */
  withJob: boolean;
  /** How a timestamp is shown. Default: as it came. */
  time?: (timestamp: string) => string;
}

/** Format a message as one line: timestamp, type, job and details. */
export function lineOf(message: StreamMessage, { withJob, time = (timestamp) => timestamp }: LineOptions): string {
  const { type, jobId, jobName, timestamp } = message;
  const job = withJob && jobId !== null ? [jobId, jobName ?? ''] : [];
  const words = [time(timestamp), type.padEnd(TYPE_COLUMNS), ...job, clip(detailsOf(message), DETAIL_COLUMNS)];
  return words
    .filter((word) => word !== '')
    .join(' ')
    .trimEnd();
}

function detailsOf({ type, spaceId, status, progress, detail }: StreamMessage): string {
  if (progress !== null) return progressText(progress);
  if (type === 'init') return status ?? spaceId ?? 'no progress yet';
  return detail;
}

/** Format a progress report as one line: `40% Resizing (decode 100%, scale 25% first pass)`. */
export function progressText({ percent, message, subProgress = {} }: Progress): string {
  const stages = Object.entries(subProgress).map(
    ([name, stage]) => `${name} ${percentText(stage.percent)}${stage.message ? ` ${stage.message}` : ''}`,
  );
  return `${percentText(percent)} ${message}${stages.length > 0 ? ` (${stages.join(', ')})` : ''}`;
}

/** Format a percentage, rounded down, so that only completed work shows 100%. */
export const percentText = (percent: number) => `${Math.floor(percent)}%`;

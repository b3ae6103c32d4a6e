import type { Progress } from '@yardmaster/protocol';
import type { Io } from '../command.js';
import type { Format } from '../flags.js';
import { readProgress, type StreamMessage } from '../service/message.js';
import type { Subject } from '../service/service.js';
import { colorOf, yellow } from '../terminal/color.js';
import { clip, localMoment, localTime, printableJson } from '../terminal/printable.js';
import { Region, sizeOf, type Terminal } from '../terminal/region.js';
import { type JobView, percentText, screenOf, unseen, viewAfter } from './screen.js';

/** Shows the messages of a watch. */
export interface Display {
  /**
   * Show a message.
   *
   * @param raw the message as JSON, unchanged
   */
  show(message: StreamMessage, raw: string): void;
  /** Show a printable sentence about the watch itself, such as a lost connection. */
  notice(sentence: string): void;
  /** Show a printable sentence about the messages, such as that some are lost. It stays visible. */
  warn(sentence: string): void;
  /** Finish, before anything else is printed. */
  close(): void;
  /** Add state of the job that its `init` lacks. Only displays that draw the state of a job need it. */
  fillIn?(known: Partial<Pick<JobView, 'progress' | 'scheduledFor'>>): void;
}

type Outputs = Pick<Io, 'out' | 'err'>;

/** Create the display for a subject in a format. */
export function displayOf(subject: Subject, format: Format, io: Outputs): Display {
  const withJob = subject.kind === 'space';
  if (format === 'json') return lineDisplay(io, (_message, raw) => printableJson(raw));
  if (format === 'plain' || !io.out.isTTY) return lineDisplay(io, (message) => lineOf(message, { withJob }));
  return subject.kind === 'space' ? spaceDisplay(io.out) : jobDisplay(io.out, subject.jobId);
}

/** Create a display that prints each message as one line. */
function lineDisplay({ out, err }: Outputs, toLine: (message: StreamMessage, raw: string) => string): Display {
  return {
    show: (message, raw) => out.write(`${toLine(message, raw)}\n`),
    notice: (sentence) => err.write(`${sentence}\n`),
    warn: (sentence) => err.write(`${sentence}\n`),
    close: () => undefined,
  };
}

/** Create the display of a space on a terminal: each message is one colored line, cut to the width of the terminal. */
function spaceDisplay(terminal: Terminal): Display {
  const print = (line: string) => terminal.write(`${line}\n`);
  const warn = (sentence: string) => print(warningLine(sentence, terminal));
  return {
    show: (message) => print(terminalLine(message, terminal, { withJob: true })),
    notice: warn,
    warn,
    close: () => undefined,
  };
}

/** Interval between redraws. A worker may report a thousand times per second, but faster draws would not be visible. */
const DRAW_EVERY_MS = 80;

/** Message types without a line of their own, because the drawing or `yardmaster logs` shows them. */
const WITHOUT_LINE = new Set(['init', 'progress', 'logs_appended']);

/** Create the display of a job on a terminal: its state is redrawn in place, and other messages scroll above it. */
export function jobDisplay(terminal: Terminal, jobId: string): Display {
  const region = new Region(terminal);
  const began = performance.now();
  let view: JobView = unseen(jobId);
  let lost: string | null = null;
  let lines: string[] = [];
  let timer: NodeJS.Timeout | null = null;
  let hasContent = false;

  const draw = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const elapsedSeconds = (performance.now() - began) / 1000;
    region.draw(screenOf(view, { ...sizeOf(terminal), elapsedSeconds, lost }), lines);
    lines = [];
  };
  const drawSoon = () => {
    hasContent = true;
    timer ??= setTimeout(draw, DRAW_EVERY_MS);
  };
  // Keep the elapsed time running while nothing happens.
  const clock = setInterval(() => hasContent && drawSoon(), 1_000);

  return {
    show(message) {
      lost = null;
      view = viewAfter(view, message);
      if (!WITHOUT_LINE.has(message.type)) lines.push(terminalLine(message, terminal, { withJob: false }));
      drawSoon();
    },
    notice(sentence) {
      lost = sentence;
      drawSoon();
    },
    warn(sentence) {
      lines.push(warningLine(sentence, terminal));
      drawSoon();
    },
    fillIn(known) {
      view = { ...view, ...known };
      drawSoon();
    },
    close() {
      clearInterval(clock);
      // If no message arrived, there is nothing to draw.
      if (hasContent) draw();
    },
  };
}

function terminalLine(message: StreamMessage, terminal: Terminal, { withJob }: { withJob: boolean }): string {
  const line = lineOf(message, { withJob, isLocal: true });
  return colorOf(message.type)(clip(line, sizeOf(terminal).columns));
}

const warningLine = (sentence: string, terminal: Terminal) => yellow(clip(sentence, sizeOf(terminal).columns));

/** Maximum columns of the details in a plain line. `--json` prints them in full. */
const DETAIL_COLUMNS = 300;

/** Width of every type except `delivery_timeout`, to align what follows. */
const TYPE_COLUMNS = 13;

interface LineOptions {
  /** Whether to print the job of the message. */
  withJob: boolean;
  /** Whether to convert timestamps to local time. Default false. */
  isLocal?: boolean;
}

/** Format a message as one line: timestamp, type, job and details. */
export function lineOf(message: StreamMessage, { withJob, isLocal = false }: LineOptions): string {
  const { type, jobId, jobName, timestamp } = message;
  const job = withJob && jobId !== null ? [jobId, jobName ?? ''] : [];
  const time = isLocal ? localTime(timestamp) : timestamp;
  const words = [time, type.padEnd(TYPE_COLUMNS), ...job, clip(detailsOf(message, isLocal), DETAIL_COLUMNS)];
  return words
    .filter((word) => word !== '')
    .join(' ')
    .trimEnd();
}

function detailsOf(message: StreamMessage, isLocal: boolean): string {
  const { type, spaceId, status, progress, scheduledFor, detail } = message;
  if (progress !== null) return progressText(progress);
  if (type === 'init') return status ?? spaceId ?? 'no progress yet';
  if (type === 'created') return status === 'scheduled' ? status : detail;
  if (scheduledFor === null) return detail;
  // The time comes first, because the rest may be long and get cut.
  const when = `scheduled for ${isLocal ? localMoment(scheduledFor) : scheduledFor}`;
  return detail === '' ? when : `${when}, ${detail}`;
}

/** Format a progress report as one line: `40% Resizing (decode 100%, scale 25% first pass)`. */
function progressText({ percent, message, subProgress = {} }: Progress): string {
  const stages = Object.entries(subProgress).map(
    ([name, stage]) => `${name} ${percentText(stage.percent)}${stage.message ? ` ${stage.message}` : ''}`,
  );
  return `${percentText(percent)} ${message}${stages.length > 0 ? ` (${stages.join(', ')})` : ''}`;
}

/** Format unvalidated progress of a job; empty without any. */
export function progressTextOf(raw: unknown): string {
  const progress = readProgress(raw);
  return progress === null ? '' : progressText(progress);
}

import type { Display } from './display.js';
import { type JobView, unseen, viewAfter } from './job-view.js';
import { lineOf, localTime } from './lines.js';
import type { StreamMessage } from './message.js';
import { paintOf, yellow } from './paint.js';
import { clip } from './printable.js';
import { Region, sizeOf, type Terminal } from './region.js';
import { screenOf } from './screen.js';

/** A worker may report a thousand times a second; an eye does not see more than this. */
const DRAW_EVERY_MS = 80;

/** Messages that need no line of their own: the drawing shows them, or `yardmaster logs` does. */
const WITHOUT_LINE = new Set(['init', 'progress', 'logs_appended']);

/** A space on a terminal: every message as one coloured line, no wider than the terminal. */
export function spaceDisplay(terminal: Terminal): Display {
  const print = (line: string) => terminal.write(`${line}\n`);
  return {
    show: (message) => print(terminalLine(message, terminal, { withJob: true })),
    notice: (sentence) => print(yellow(clip(sentence, sizeOf(terminal).columns))),
    close: () => undefined,
  };
}

/** A job on a terminal: drawn in place, with lines above it for what is no progress. */
export function jobDisplay(terminal: Terminal, jobId: string): Display {
  const region = new Region(terminal);
  const began = performance.now();
  let view: JobView = unseen(jobId);
  let lost: string | null = null;
  let lines: string[] = [];
  let timer: NodeJS.Timeout | null = null;
  let hasNews = false;

  const draw = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const elapsedSeconds = (performance.now() - began) / 1000;
    region.draw(screenOf(view, { ...sizeOf(terminal), elapsedSeconds, lost }), lines);
    lines = [];
  };
  const drawSoon = () => {
    hasNews = true;
    timer ??= setTimeout(draw, DRAW_EVERY_MS);
  };
  // The time goes on while nothing happens.
  const clock = setInterval(() => hasNews && drawSoon(), 1_000);

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
    showProgress(progress) {
      view = { ...view, progress };
      drawSoon();
    },
    close() {
      clearInterval(clock);
      // A job that cannot be watched from the start has nothing to show.
      if (hasNews) draw();
    },
  };
}

function terminalLine(message: StreamMessage, terminal: Terminal, { withJob }: { withJob: boolean }): string {
  const line = lineOf(message, { withJob, time: localTime });
  return paintOf(message.type)(clip(line, sizeOf(terminal).columns));
}

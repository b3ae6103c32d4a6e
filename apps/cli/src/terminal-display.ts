import { colorOf, yellow } from './color.js';
import type { Display } from './display.js';
import { type JobView, unseen, viewAfter } from './job-view.js';
import { lineOf, localTime } from './lines.js';
import type { StreamMessage } from './message.js';
import { clip } from './printable.js';
import { Region, sizeOf, type Terminal } from './region.js';
import { screenOf } from './screen.js';

/** Time between two draws. A worker may report a thousand times a second, but an eye does not see more than this. */
const DRAW_EVERY_MS = 80;

/** Types of messages that need no line of their own, because the drawing or `yardmaster logs` shows them. */
const WITHOUT_LINE = new Set(['init', 'progress', 'logs_appended']);

/** Create the display of a space on a terminal: every message is one coloured line, no wider than the terminal. */
export function spaceDisplay(terminal: Terminal): Display {
  const print = (line: string) => terminal.write(`${line}\n`);
  return {
    show: (message) => print(terminalLine(message, terminal, { withJob: true })),
    notice: (sentence) => print(yellow(clip(sentence, sizeOf(terminal).columns))),
    close: () => undefined,
  };
}

/** Create the display of a job on a terminal: it is drawn in place, and other messages are lines above it. */
export function jobDisplay(terminal: Terminal, jobId: string): Display {
  const region = new Region(terminal);
  const began = performance.now();
  let view: JobView = unseen(jobId);
  let lost: string | null = null;
  let lines: string[] = [];
  let timer: NodeJS.Timeout | null = null;
  let hasChanged = false;

  const draw = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const elapsedSeconds = (performance.now() - began) / 1000;
    region.draw(screenOf(view, { ...sizeOf(terminal), elapsedSeconds, lost }), lines);
    lines = [];
  };
  const drawSoon = () => {
    hasChanged = true;
    timer ??= setTimeout(draw, DRAW_EVERY_MS);
  };
  // The time must go on while nothing happens.
  const clock = setInterval(() => hasChanged && drawSoon(), 1_000);

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
      // There is nothing to show of a job that could not be watched at all.
      if (hasChanged) draw();
    },
  };
}

function terminalLine(message: StreamMessage, terminal: Terminal, { withJob }: { withJob: boolean }): string {
  const line = lineOf(message, { withJob, time: localTime });
  return colorOf(message.type)(clip(line, sizeOf(terminal).columns));
}

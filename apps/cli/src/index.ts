export { streamUrlOf } from './addresses.js';
export { backoffMs, retryAfterMs } from './backoff.js';
export { connect, type Ending } from './connection.js';
export {
  EXIT,
  EXIT_MEANINGS,
  FORMAT_EXIT,
  FORMAT_EXIT_MEANINGS,
  FSCK_EXIT,
  FSCK_EXIT_MEANINGS,
} from './exit-codes.js';
export { follow } from './follow.js';
export type { FormatRequest } from './format-command.js';
export type { FsckRequest } from './fsck-command.js';
export { type JobView, unseen, viewAfter } from './job-view.js';
export { lineOf } from './lines.js';
export { plainLine } from './logs/entry-line.js';
export { type ShowLogsOptions, showLogs } from './logs/show-logs.js';
export type { LogsRequest } from './logs-command.js';
export { readMessage } from './message.js';
export { type NextStep, nextStepOf } from './next-step.js';
export { clip, printable, printableJson, widthOf } from './printable.js';
export { runProgram } from './program.js';
export { Region } from './region.js';
export { barOf, clockOf, screenOf } from './screen.js';
export { jobDisplay } from './terminal-display.js';
export type { WatchRequest } from './watch-command.js';

import { isStreamType, STREAM_TYPES } from '@yardmaster/protocol';
import type { Stream } from '../history.js';
import type { Rule } from './rule.js';

/** Fields of every message of a job's stream to somebody without a key (spec §6.1). */
const KEYLESS = ['jobId', 'type', 'timestamp'];

/** A stream without a key shows how far its job is and that it was completed, and of that nothing else (P9). */
export const scopes: Rule = {
  name: 'scopes',
  promise: 'P9',
  check: ({ streams }) =>
    streams.flatMap(({ line, jobId, client, scope, messages }) =>
      messages
        .filter((message) => scope === 'progress' && !mayBeShown(message))
        .map((message) => ({
          jobId,
          says: `stream of ${client}, without a key: ${message.type} with ${Object.keys(message)}`,
          lines: [line],
        })),
    ),
};

/** Whether a token of a job alone may see a message: its type, and each field that it has. */
export function mayBeShown(message: Stream['messages'][number]): boolean {
  const more = moreOf(message.type);
  return more !== null && Object.keys(message).every((field) => KEYLESS.includes(field) || field === more);
}

/** What a message may have beside those; null when there may be no such message. */
function moreOf(type: string): string | null {
  if (type === 'init') return 'progress';
  if (!isStreamType(type) || STREAM_TYPES[type] === 'withheld') return null;
  return STREAM_TYPES[type] === 'with data' ? 'data' : '';
}

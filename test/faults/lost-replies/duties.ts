import type { EventType } from '@yardmaster/protocol';
import type { Store } from '@yardmaster/store';
import type { Operation } from '../history.js';
import { runs, sends } from '../scripts.js';

/** A reply that a scheduler loses, and what its job has come to in the end: each effect once. */
export interface LostDuty {
  /** The name of its job. */
  title: string;
  /** Script, or command; `bullmq` is whatever BullMQ has Redis do. */
  runs: string;
  /** Tells the command, for the job's id. */
  isIt(jobId: string, store: Store): (words: string[]) => boolean;
  /** It comes only when others of its connection and before it have come, so that none may be lost beside it. */
  isLater?: true;
  maxRetries: number;
  /** What is done with the job; then it is left to the schedulers. */
  does: readonly Operation[];
  /** Its whole history. Whatever is pending again is killed. */
  leaves: readonly EventType[];
  /** How often its callback is sent. */
  posts: number;
  /** Its receiver refuses the first. */
  isRefused?: true;
}

const DELIVERED = {
  does: ['claim'],
  maxRetries: 1,
  leaves: ['created', 'delivered', 'delivery_timeout', 'killed'],
  posts: 0,
} as const;
const SILENT = {
  does: ['claim', 'ack'],
  maxRetries: 1,
  leaves: ['created', 'delivered', 'acked', 'retried', 'killed'],
  posts: 0,
} as const;
const LAST = {
  does: ['claim', 'ack'],
  maxRetries: 0,
  leaves: ['created', 'delivered', 'acked', 'dead', 'callback_sent'],
  posts: 1,
} as const;
const ENDED = {
  does: ['claim', 'ack', 'complete'],
  maxRetries: 0,
  leaves: ['created', 'delivered', 'acked', 'completed', 'callback_sent'],
  posts: 1,
} as const;

const deadlinesOf = (jobId: string, { keys }: Store) => keys.deadlines(jobId.slice(0, 2));
const expires: LostDuty['isIt'] = (jobId, store) => runs('expire', deadlinesOf(jobId, store));
const alarmOf = (jobId: string) => `${jobId}-0`;

/** Every script and every command that a scheduler's duties need. */
export const LOST_DUTIES: readonly LostDuty[] = [
  { title: 'expire.delivered', runs: 'expire', isIt: expires, ...DELIVERED },
  { title: 'expire.retried', runs: 'expire', isIt: expires, ...SILENT },
  { title: 'expire.dead', runs: 'expire', isIt: expires, ...LAST },
  { title: 'look.time', runs: 'time', isIt: () => sends('time'), ...SILENT },
  { title: 'look.due', runs: 'zrange', isIt: (id, store) => sends('zrange', deadlinesOf(id, store)), ...SILENT },
  {
    title: 'callback.relay',
    runs: 'relay_callbacks',
    isIt: (id, { keys }) => runs('relay_callbacks', keys.callbacks(id.slice(0, 2))),
    ...ENDED,
  },
  { title: 'callback.host', runs: 'hget', isLater: true, isIt: (id) => sends('hget', id), ...ENDED },
  {
    title: 'callback.begin',
    runs: 'begin_callback',
    isLater: true,
    isIt: (id) => runs('begin_callback', id),
    ...ENDED,
  },
  {
    title: 'callback.record',
    runs: 'record_callback',
    isLater: true,
    isIt: (id) => runs('record_callback', id),
    ...ENDED,
  },
  {
    title: 'callback.record.again',
    runs: 'record_callback',
    isLater: true,
    isIt: (id) => runs('record_callback', id),
    ...ENDED,
    isRefused: true,
    leaves: ['created', 'delivered', 'acked', 'completed', 'callback_sent', 'callback_sent'],
    posts: 2,
  },
  // Whichever of its scripts names the alarm first sets it; the one that tells of a value returned is rid of it.
  {
    title: 'alarm.set',
    runs: 'bullmq',
    isLater: true,
    isIt: (id) => (words) => words.some((word) => word.includes(alarmOf(id))),
    ...ENDED,
  },
  {
    title: 'alarm.rung',
    runs: 'bullmq',
    isLater: true,
    isIt: (id) => (words) => words.includes('returnvalue') && words.some((word) => word.includes(alarmOf(id))),
    ...ENDED,
  },
];

/** What a scheduler asks Redis for when it is scraped. */
export const LOST_SCRAPES = ['zcard', 'zrevrange'] as const;

import type { Route } from '@yardmaster/api';
import type { ErrorCode } from '@yardmaster/protocol';
import type { FuzzRequest, Place } from './request.js';

/** Where a job may be for a call on it to succeed, and what it is refused with elsewhere (spec §3, §7). */
type Rule = { from: readonly Place[]; else: ErrorCode; killed?: ErrorCode; ended?: ErrorCode };

const NOT_RUNNING = { from: ['running'], else: 'JOB_NOT_RUNNING' } as const;
const HEARTBEAT = { ...NOT_RUNNING, killed: 'JOB_KILLED' } as const;

const RULES: Record<string, Rule> = {
  ack: { from: ['delivered'], else: 'JOB_NOT_DELIVERED' },
  'POST progress': HEARTBEAT,
  checkpoint: HEARTBEAT,
  event: HEARTBEAT,
  keepalive: HEARTBEAT,
  complete: NOT_RUNNING,
  fail: NOT_RUNNING,
  kill: { from: ['pending', 'delivered', 'running', 'killed'], else: 'JOB_ENDED' },
  redeliver: { from: ['called'], else: 'JOB_NOT_ENDED', ended: 'NO_CALLBACK' },
};

const ENDED: readonly Place[] = ['completed', 'dead', 'killed'];

/** The refusals that the job of a request is worth, any of them; none when the request is to be served. */
export function jobRefusals({ target, place, key }: FuzzRequest, { path, method }: Route): ErrorCode[] {
  if (target.is === 'key') return ['KEY_NOT_FOUND'];
  if (!path.includes(':jobId')) return [];
  const isThere = target.is !== 'job' && place !== 'unknown' && place !== 'purged';
  // Whether a key of one space is told that there is no such job is nowhere written.
  if (!isThere)
    return key.name === 'ofCalls' || key.name === 'ofJobs' ? ['FORBIDDEN', 'JOB_NOT_FOUND'] : ['JOB_NOT_FOUND'];
  if (key.name === 'ofCalls') return ['FORBIDDEN'];
  const verb = path.split('/').at(-1) as string;
  return inPlace(RULES[verb === 'progress' ? `${method} ${verb}` : verb], place);
}

function inPlace(rule: Rule | undefined, place: Place): ErrorCode[] {
  if (rule === undefined || rule.from.includes(place)) return [];
  if (place === 'killed' && rule.killed) return [rule.killed];
  return [(ENDED.includes(place) && rule.ended) || rule.else];
}

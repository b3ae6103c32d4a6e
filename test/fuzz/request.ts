import type { Route } from '@yardmaster/api';
import type { Body } from './body.js';
import type { Framing } from './framings.js';
import type { Presented } from './keys.js';
import type { Query } from './queries.js';
import type { Target } from './targets.js';

/** Where the job of a request stands; `called` has ended and told its callback, `purged` and `unknown` are no more. */
export const PLACES = [
  'pending',
  'delivered',
  'running',
  'completed',
  'called',
  'dead',
  'killed',
  'purged',
  'unknown',
] as const;
export type Place = (typeof PLACES)[number];

/** One request, made from the seed and its number; ids of jobs and texts of keys are put in when it is sent. */
export interface FuzzRequest {
  /** What is odd about it. */
  oddity: string;
  route: Route;
  /** `POST /api/v1/jobs/:jobId/ack`. */
  name: string;
  method: string;
  target: Target;
  query: Query;
  key: Presented;
  place: Place;
  body: Body | null;
  requestId: [name: string, value: string][];
  framing: Framing;
  /** In how many pieces it is written. */
  pieces: number;
}

/** What stands for what, when a request is sent. */
export interface Names {
  jobId: string;
  keyId: string;
  keys: Record<string, string>;
}

function filled(text: string, { jobId, keyId, keys }: Names): string {
  const encodedJob = jobId.replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`);
  return text.replace(
    /\{(job|encodedJob|key|admin|worker|reader|ofJobs|ofCalls|expired|revoked)\}/g,
    (_, name: string) =>
      name === 'job' ? jobId : name === 'encodedJob' ? encodedJob : name === 'key' ? keyId : (keys[name] as string),
  );
}

/** The request as bytes. */
export function bytesOf(request: FuzzRequest, names: Names): Buffer {
  const { framing, query, method, key, body, requestId } = request;
  const target = filled(request.target.text, names) + (query.text === '' ? '' : `?${query.text}`);
  const first = (framing.version ?? '{method} {target} HTTP/1.1')
    .replace('{method}', () => method)
    .replace('{target}', () => target);
  const headers = [['Host', '127.0.0.1'], ...key.lines, ...requestId, ...(body?.headers ?? [])];
  const lines = headers.map(([name, value]) => `${name}: ${filled(value as string, names)}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${first}\r\n${lines}${framing.lines}\r\n`, 'latin1'), framing.bytes]);
}

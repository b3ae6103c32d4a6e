import type { ErrorCode, Trigger } from '@yardmaster/protocol';

/** Groups of operations, in the order in which a newcomer meets them. */
export const TAGS = {
  Jobs: 'For producers and operators: create, kill, and have a callback sent again.',
  Work: 'For workers: take jobs, say how they go, and end them.',
  Reading: 'For whoever watches. To be told rather than to ask, open a stream.',
  Logs: 'What workers write while they work.',
  Keys: 'API keys and the secrets of callbacks, for administrators.',
} as const;

/** Values, each by the sentence that says what it is an example of. */
export type Examples = Record<string, unknown>;

/** What the document tells of an endpoint beyond what its row and its schemas say. */
export interface Operation {
  tag: keyof typeof TAGS;
  summary: string;
  description?: string;
  /** What it does to a job: which statuses refuse it follows from the transitions. */
  trigger?: Trigger;
  /** Codes that its verb throws beside those that follow from row and trigger. */
  refusals?: readonly ErrorCode[];
  /** Of a body of JSON. */
  request?: Examples;
  answer: Examples;
  /** What its answer holds for other operations to be called with: a parameter of a path, and where it always stands. */
  yields?: { parameter: 'jobId' | 'keyId'; at: string };
}

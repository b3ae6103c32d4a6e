import type { ErrorCode, Trigger } from '@yardmaster/protocol';

/** Groups of operations, in the order in which a newcomer needs them. */
export const TAGS = {
  Jobs: 'For producers and operators: create, kill, and have a callback sent again.',
  Work: 'For workers: take jobs, say how they go, and end them.',
  Reading: 'For whoever watches. To be told rather than to ask, open a stream.',
  Logs: 'What workers write while they work.',
  Keys: 'API keys and the secrets of callbacks, for administrators.',
} as const;

/** Example values, each under a sentence that describes it. */
export type Examples = Record<string, unknown>;

/** What the document says about an endpoint in addition to its row and its schemas. */
export interface Operation {
  tag: keyof typeof TAGS;
  summary: string;
  description?: string;
  /** What it does to a job. The statuses that refuse it follow from the transitions. */
  trigger?: Trigger;
  /** Codes that its verb throws in addition to those that follow from row and trigger. */
  refusals?: readonly ErrorCode[];
  /** Examples of a JSON body. */
  request?: Examples;
  response: Examples;
  /** Value in its response for calls of other operations: a parameter of a path, and where the value always is. */
  yields?: { parameter: 'jobId' | 'keyId'; at: string };
}

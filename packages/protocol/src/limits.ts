import { CALLBACK_ENDS } from './jobs/statuses.js';

/** Limits that no deployment changes. Sizes in bytes are variables, `MAX_*_BYTES`. */
export const LIMITS = {
  nameCharacters: 128,
  spaceIdCharacters: 128,
  listDefault: 50,
  listMax: 100,
  /** Jobs that one call creates. */
  createMax: 1_000,
  pollDefault: 1,
  /** Most jobs that one poll claims. */
  pollMax: 50,
  /** Our choice: one poll reads one queue per name, and a script loops over at most 100 things. */
  pollNames: 100,
  waitSecondsMax: 20,
  /** Our choice: events of one page of a history. They have 6 MB at most, which takes Redis some 40 ms. */
  eventsMax: 100,
  maxRetriesDefault: 3,
  maxRetriesMax: 100,
  /** Outcomes in one call to settle, and in one poll. */
  settleMax: 100,
  pollSettleMax: 50,
  ackWithinSecondsMax: 3_600,
  workerIdCharacters: 128,
  timeoutSecondsDefault: 300,
  timeoutSecondsMax: 86_400,
  /** 366 days. */
  delaySecondsMax: 31_622_400,
  startWithinSecondsMax: 31_622_400,
  /** A century, as RETENTION_SECONDS. */
  retentionSecondsMax: 3_162_240_000,
  maxPendingMax: 1_000_000_000,
  /** 1 PB. */
  maxBytesMax: 1_000_000_000_000_000,
  /** Our choice: each poll reads all paused names of its space. */
  pausedNames: 100,
  /** 7 days. */
  retryDelaySecondsMax: 604_800,
  retryDelays: 20,
  retryFactorMax: 10,
  maxRunSecondsMax: 604_800,
  prioritySecondsMax: 604_800,
  /** Our choice: names of jobs that one response of Get Space Statistics counts. */
  statsNamesDefault: 100,
  statsNamesMax: 1_000,
  /** Our choice: spaces of one page. Each is counted by a script of its own. */
  spacesDefault: 50,
  spacesMax: 100,
  /** Our choice: points of one response, 15 days of hours or 6 hours of minutes; and points when the caller names no beginning. */
  historyPoints: 360,
  historyDefault: { 60: 60, 3600: 24 },
  subProgressStages: 50,
  /** Our choice: more than there are scopes. */
  keyScopes: 50,
  /** Our choice: calls of a key per second in one process, from one in 100 s. */
  keyPerSecondMin: 0.01,
  keyPerSecondMax: 100_000,
  keyBurstMax: 100_000,
  /** Our choice: buckets from which a call takes: that of its key, and those of the keys before it. */
  keyBuckets: 8,
  overlapSecondsDefault: 86_400,
  /** 30 days. */
  overlapSecondsMax: 2_592_000,
  auditDefault: 50,
  auditMax: 100,
  /** Our choice: a 400 lists this many faults, and quotes this much of a name that the caller made up. */
  faultDetails: 20,
  faultPathCharacters: 100,
  jsonDepth: 64,
  logsDefault: 200,
  logsMax: 500,
  /** Our choice: each term is searched for in each message, and the text of a filter in each job. */
  searchCharacters: 500,
  searchTerms: 32,
  /** Statuses to look for; more than there are. Repetitions are ignored. */
  filterStatuses: 20,
  tags: 10,
  tagCharacters: 64,
  /** Jobs that the filter of an operation lists. */
  operationIds: 1_000,
  /** Jobs that a stream token names. */
  streamTokenJobs: 100,
  /** Operations of a space that run at once. */
  operationsRunning: 10,
  /** Our choice: reason of an operation. */
  operationReasonCharacters: 1_000,
  idempotencyKeyCharacters: 255,
  uniqueKeyCharacters: 256,
  /** Our choice: 366 days. */
  uniqueTtlSecondsMax: 31_622_400,
  callbackUrlCharacters: 2048,
  /** Our choice: more than there are ends. Repetitions are ignored. */
  callbackEnds: 10,
  callbackHeaders: 20,
  callbackHeadersBytes: 4096,
} as const;

/** Defaults of a job's options. Records leave the default of `callbackOn` out; scripts get it at build time. */
export const RECORD_DEFAULTS = {
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackOn: CALLBACK_ENDS.join(' '),
} as const;

import { CALLBACK_ENDS } from './jobs/statuses.js';

/** Limits that no deployment can change. Limits of bytes are environment variables, `MAX_*_BYTES`. */
export const LIMITS = {
  nameCharacters: 128,
  spaceIdCharacters: 128,
  listDefault: 50,
  listMax: 100,
  /** Maximum number of jobs to create in one call. */
  createMax: 1_000,
  pollDefault: 1,
  /** Maximum number of jobs to claim in one poll. */
  pollMax: 50,
  /** Our choice: a poll reads one queue per name, and a script loops over at most 100 items. */
  pollNames: 100,
  waitSecondsMax: 20,
  /** Our choice: events per page of a history. They take up at most 6 MB, which costs Redis about 40 ms. */
  eventsMax: 100,
  maxRetriesDefault: 3,
  maxRetriesMax: 100,
  /** Maximum number of outcomes per settle call, and per poll. */
  settleMax: 100,
  pollSettleMax: 50,
  ackWithinSecondsMax: 3_600,
  workerIdCharacters: 128,
  timeoutSecondsDefault: 300,
  timeoutSecondsMax: 86_400,
  /** 366 days. */
  delaySecondsMax: 31_622_400,
  startWithinSecondsMax: 31_622_400,
  /** A century, as for RETENTION_SECONDS. */
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
  /** Our choice: job names in one response of Get Space Statistics. */
  statsNamesDefault: 100,
  statsNamesMax: 1_000,
  /** Our choice: spaces per page. Each is counted by its own script. */
  spacesDefault: 50,
  spacesMax: 100,
  /** Our choice: points per response, 15 days of hours or 6 hours of minutes; and points if the caller sets no start. */
  historyPoints: 360,
  historyDefault: { 60: 60, 3600: 24 },
  subProgressStages: 50,
  /** Our choice: more than there are scopes. */
  keyScopes: 50,
  /** Our choice: calls per second of a key in one process; the minimum is one call in 100 seconds. */
  keyPerSecondMin: 0.01,
  keyPerSecondMax: 100_000,
  keyBurstMax: 100_000,
  /** Our choice: buckets that a call counts against: that of its key, and those of the keys that created it. */
  keyBuckets: 8,
  overlapSecondsDefault: 86_400,
  /** 30 days. */
  overlapSecondsMax: 2_592_000,
  auditDefault: 50,
  auditMax: 100,
  /** Our choice: faults listed in a 400, and characters quoted of an unknown name. */
  faultDetails: 20,
  faultPathCharacters: 100,
  jsonDepth: 64,
  logsDefault: 200,
  logsMax: 500,
  /** Our choice: every term is searched for in every message, and the text of a filter in every job. */
  searchCharacters: 500,
  searchTerms: 32,
  /** Statuses in a filter; more than exist, because duplicates are ignored. */
  filterStatuses: 20,
  tags: 10,
  tagCharacters: 64,
  /** Job IDs in the filter of an operation. */
  operationIds: 1_000,
  /** Job IDs in a stream token. */
  streamTokenJobs: 100,
  /** Operations that may run in a space at the same time. */
  operationsRunning: 10,
  /** Our choice: length of the reason of an operation. */
  operationReasonCharacters: 1_000,
  /** Our choice. */
  cronCharacters: 256,
  /** Schedules in one call. */
  schedulesDeclared: 200,
  schedulesDefault: 50,
  schedulesMax: 100,
  /** Times of a schedule that Get Schedule shows. */
  upcomingTimes: 5,
  scheduleSecondsMin: 10,
  /** 366 days. */
  scheduleSecondsMax: 31_622_400,
  missedWithinSecondsDefault: 86_400,
  idempotencyKeyCharacters: 255,
  uniqueKeyCharacters: 256,
  /** Our choice: 366 days. */
  uniqueTtlSecondsMax: 31_622_400,
  callbackUrlCharacters: 2048,
  /** Our choice: more than there are terminal statuses, because duplicates are ignored. */
  callbackEnds: 10,
  callbackHeaders: 20,
  callbackHeadersBytes: 4096,
} as const;

/** Defaults of a job's options. Records omit the default of `callbackOn`; scripts get it at build time. */
export const RECORD_DEFAULTS = {
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackOn: CALLBACK_ENDS.join(' '),
} as const;

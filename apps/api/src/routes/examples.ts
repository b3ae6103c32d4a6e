import type {
  ApiKey,
  AuditEntry,
  ClaimedJob,
  Job,
  JobEvent,
  JobSummary,
  ListedJob,
  LogEntry,
  Operation,
  Progress,
  Schedule,
  SpaceHistory,
  SpaceList,
  SpaceStats,
} from '@yardmaster/protocol';

// Examples for the OpenAPI document: one job in one space, from its creation to its end.

export const SPACE_ID = 'demo';
export const JOB_ID = '36o7twzxdv24fxfunb5lk3gei7b2';
export const SCHEDULE_ID = 'nightly-report';
export const KEY_ID = 'mfrggzdfmztwq2lk';

const CREATED = '2026-08-01T09:30:00.000Z';
const TAKEN = '2026-08-01T09:30:02.120Z';
const STARTED = '2026-08-01T09:30:02.140Z';
export const REPORTED = '2026-08-01T09:30:04.784Z';
const ENDED = '2026-08-01T09:30:07.009Z';

const PAYLOAD = { image: 'cat.png', width: 320 };

export const PROGRESS: Progress = {
  percent: 40,
  message: 'Resizing',
  subProgress: { decode: { percent: 100 }, scale: { percent: 10, message: 'first pass' } },
};

export const PENDING: Job = {
  id: JOB_ID,
  spaceId: SPACE_ID,
  name: 'resize',
  payload: PAYLOAD,
  status: 'pending',
  maxRetries: 3,
  attemptNumber: 0,
  timeoutSeconds: 300,
  callbackUrl: 'https://example.com/hooks/resized',
  callbackHeaders: { 'x-tenant': 'acme' },
  deliveredAt: null,
  startedAt: null,
  completedAt: null,
  result: null,
  createdAt: CREATED,
  updatedAt: CREATED,
};

export const SUMMARIES: JobSummary[] = [
  { id: JOB_ID, spaceId: SPACE_ID, name: 'resize', status: 'pending', createdAt: CREATED },
  { id: '36vq2m4xkz7c3bnd5e6ahtw7yfu2', spaceId: SPACE_ID, name: 'crop', status: 'pending', createdAt: CREATED },
];

export const COMPLETED: Job = {
  ...PENDING,
  status: 'completed',
  attemptNumber: 1,
  deliveredAt: TAKEN,
  startedAt: STARTED,
  completedAt: ENDED,
  result: { bytes: 51_234 },
  updatedAt: ENDED,
};

export const OPERATION_ID = '36f3x7dkqz2m5cbn4e6ahtw7yfu2';
const OPERATION: Operation = {
  id: OPERATION_ID,
  spaceId: SPACE_ID,
  action: 'requeue',
  filter: { status: ['dead'], names: ['resize'], q: 'out of memory' },
  status: 'running',
  looked: 1200,
  changed: 311,
  skipped: 0,
  left: 4800,
  startedAt: CREATED,
  finishedAt: null,
};
export const OPERATIONS_SHOWN = {
  started: { ...OPERATION, looked: 0, changed: 0, left: 6000 },
  running: OPERATION,
  done: { ...OPERATION, status: 'done', looked: 6000, changed: 1418, skipped: 2, left: 0, finishedAt: ENDED },
} satisfies Record<string, Operation>;

export const COPY: Job = { ...PENDING, id: '36vq2m4xkz7c3bnd5e6ahtw7yfu2', copyOf: JOB_ID };

const { callbackUrl: _, callbackHeaders: __, ...listed } = COMPLETED;
export const LISTED: ListedJob = listed;

const HISTORY: readonly Pick<JobEvent, 'type' | 'data' | 'createdAt'>[] = [
  { type: 'created', data: null, createdAt: CREATED },
  { type: 'delivered', data: null, createdAt: TAKEN },
  { type: 'acked', data: null, createdAt: STARTED },
  { type: 'progress', data: PROGRESS as JobEvent['data'], createdAt: REPORTED },
  { type: 'completed', data: COMPLETED.result, createdAt: ENDED },
];

export const EVENTS: JobEvent[] = HISTORY.map((event, i) => ({
  id: `${JOB_ID}.${i + 1}`,
  jobId: JOB_ID,
  spaceId: SPACE_ID,
  ...event,
}));

export const CLAIMED: ClaimedJob = {
  id: JOB_ID,
  name: 'resize',
  payload: PAYLOAD,
  timeoutSeconds: 300,
  maxRetries: 3,
  attemptNumber: 0,
  createdAt: CREATED,
  checkpoint: null,
  attempt: 1,
  deliveryToken: '0.0.i3v6g6rsa8',
};

export const LOG: LogEntry = {
  id: `${JOB_ID}.2`,
  seq: 2,
  level: 'warn',
  message: 'no color profile',
  source: 'scaler',
  metadata: { file: 'cat.png' },
  loggedAt: REPORTED,
  createdAt: '2026-08-01T09:30:04.801Z',
};

/** Log entries in both forms that workers may send. */
export const NEW_LOGS = [
  'decoding',
  { level: 'warn', message: LOG.message, source: LOG.source, metadata: LOG.metadata },
];

/** The same entries as NDJSON. */
export const LOG_LINES = NEW_LOGS.map((entry) => `${JSON.stringify(entry)}\n`).join('');

export const STATS: SpaceStats = {
  spaceId: SPACE_ID,
  timestamp: REPORTED,
  jobs: { pending: 40, delivered: 1, running: 8, completed: 950, dead: 1, killed: 0, total: 1_000 },
  oldestPendingAgeSeconds: 12.25,
  names: [
    { name: 'resize', total: 900, pending: 40, oldestPendingAgeSeconds: 12.25 },
    { name: 'crop', total: 100, pending: 0, oldestPendingAgeSeconds: null },
  ],
  namesLeftOut: 0,
};

export const SPACES: SpaceList = {
  spaces: [
    { spaceId: SPACE_ID, jobs: STATS.jobs, oldestPendingAgeSeconds: 12.25 },
    {
      spaceId: 'mail',
      jobs: { pending: 0, delivered: 0, running: 2, completed: 40, dead: 0, killed: 0, total: 42 },
      oldestPendingAgeSeconds: null,
    },
  ],
  nextCursor: 'mail',
};

export const SPACE_HISTORY: SpaceHistory = {
  spaceId: SPACE_ID,
  step: 60,
  points: [
    {
      at: CREATED,
      names: {
        resize: {
          ...{ created: 3, completed: 2, retried: 1, dead: 0, killed: 0, deliveryTimeouts: 0, runTimeouts: 0 },
          waitSeconds: { count: 3, sum: 2.46, buckets: { '0.5': 2, '5': 1 } },
          runSeconds: { count: 3, sum: 9.87, buckets: { '5': 3 } },
        },
      },
    },
  ],
};

/** Callback secret of the space above, derived from the master in docs/callbacks.md. */
export const CALLBACK_SECRET = 'whsec_BwO4YrmUZgTw3u+np14W7ah6WRcmaQFeXn9Njcen+OQ=';

export const API_KEY: ApiKey = {
  id: KEY_ID,
  name: 'resizers',
  scopes: ['jobs:worker'],
  spaceId: SPACE_ID,
  expiresAt: null,
  createdAt: CREATED,
};

/** Secrets of that key, before and after a rotation. */
export const SECRET = '0'.repeat(64);
export const NEXT_SECRET = '1'.repeat(64);

export const STREAM_TOKEN = {
  token: `ymst_mfrggzdfmztwq2lk_eyJzY29wZSI6ImpvYnM6cmVhZDpwcm9ncmVzcyJ9_${'0'.repeat(43)}`,
  expiresAt: '2026-08-01T09:45:00.000Z',
};

export const ACT: AuditEntry = {
  id: '1785576607009-0',
  at: ENDED,
  keyId: KEY_ID,
  keyName: 'on-call',
  action: 'job.kill',
  spaceId: SPACE_ID,
  jobId: JOB_ID,
  address: '203.0.113.7',
  requestId: '0b0e3c6e-5a0e-4f55-9d1c-6f8f1f2c7a11',
  details: {},
};

/** An outcome that a worker settles. */
export const OUTCOME = {
  jobId: CLAIMED.id,
  deliveryToken: CLAIMED.deliveryToken,
  action: 'complete',
  result: COMPLETED.result,
};

/** A poll that settles an outcome first. */
export const TURN = { types: ['resize'], waitSeconds: 20, autoAck: true, workerId: 'w-17', settle: [OUTCOME] };

export const SCHEDULE_SHOWN: Schedule = {
  id: SCHEDULE_ID,
  spaceId: SPACE_ID,
  cron: '0 3 * * *',
  timezone: 'Europe/Berlin',
  job: { name: 'report', payload: { kind: 'daily' }, maxRetries: 5 },
  overlap: 'skip',
  missed: 'once',
  missedWithinSeconds: 86_400,
  spreadSeconds: 0,
  paused: false,
  nextAt: '2026-08-02T01:00:00.000Z',
  lastAt: null,
  lastJobId: null,
  fired: 0,
  skipped: 0,
  lastSkipped: null,
  createdAt: CREATED,
};

export const SKIPPED_SCHEDULE: Schedule = {
  ...SCHEDULE_SHOWN,
  nextAt: '2026-08-05T01:00:00.000Z',
  lastAt: '2026-08-03T01:00:00.000Z',
  lastJobId: JOB_ID,
  fired: 2,
  skipped: 1,
  lastSkipped: { at: '2026-08-04T01:00:00.000Z', reason: 'OVERLAP' },
};

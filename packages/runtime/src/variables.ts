import { z } from 'zod';
import {
  bytes,
  dnsServers,
  flag,
  integer,
  nameQueues,
  networks,
  origins,
  redisUrl,
  retryDelays,
  seconds,
  signingSecrets,
} from './variable-schemas.js';

// One row per environment variable of all our processes. docs/configuration.md has the same rows; a test compares them.

interface Variable<T, D extends string | null> {
  /** Default, as shown in docs/configuration.md; null for none. */
  default: D;
  /** One or two sentences for an operator. */
  meaning: string;
  schema: z.ZodType<T, string>;
}

function row<T, D extends string | null>(byDefault: D, meaning: string, schema: z.ZodType<T, string>): Variable<T, D> {
  return { default: byDefault, meaning, schema };
}

/** Minimum length of an admin key, so that even one made up by a person can't be guessed. */
export const ADMIN_KEY_LENGTH = 32;

/** A hundred years, in seconds. */
const CENTURY = 100 * 366 * 86_400;

/** Environment variables of all processes, by name. */
export const VARIABLES = {
  PORT: row('8080', 'Port to listen on; 0 picks a free one', integer(0, 65_535)),
  HOST: row('127.0.0.1', 'Address to listen on', z.string()),
  REDIS_URL: row(
    null,
    'URL of the Redis that stores everything: `redis://host:port/db`, `redis+sentinel://host,…/name`, `redis+cluster://host,…`, with `rediss` for TLS, or `unix:///path`; see docs/redis.md. Unset: the standalone runs a private Redis; every other process refuses to start',
    redisUrl,
  ),
  REDIS_URL_FILE: row(null, 'File that contains `REDIS_URL`, which must then be unset. Read at startup', z.string()),
  DATA_DIR: row('.data', 'Standalone only: folder for the data of its private Redis and its admin key', z.string()),
  CLOCK: row(
    'redis',
    'Standalone only: with `manual`, jobs follow a clock that stands still until `POST /test/clock` advances it, for testing your own programs; see docs/testing.md',
    z.enum(['redis', 'manual'], { error: 'must be redis or manual' }) as unknown as z.ZodType<
      'redis' | 'manual',
      string
    >,
  ),
  REDIS_TIMEOUT_SECONDS: row(
    '1.5',
    'How long Redis may take for one command. A call that needs several commands may take 0.3 seconds longer; after that, it gets a 503',
    seconds(60, { zero: false }),
  ),
  ADMIN_API_KEY: row(
    null,
    'API key with every scope in every space, at least 32 characters. Unset: the standalone generates one; the API refuses to start unless keys exist',
    z
      .string()
      .min(ADMIN_KEY_LENGTH, { error: `must have at least ${ADMIN_KEY_LENGTH} characters` })
      .regex(/^[\x21-\x7e]+$/, {
        error: 'must be printable ASCII without spaces',
      }),
  ),
  ADMIN_API_KEY_FILE: row(
    null,
    'File that contains `ADMIN_API_KEY`, which must then be unset. Reread every minute',
    z.string(),
  ),
  KEY_PREFIX: row(
    'ym',
    'Prefix of every Redis key',
    z.string().regex(/^[A-Za-z0-9._-]{1,32}$/, {
      error: 'must be 1 to 32 characters of A-Z a-z 0-9 . _ -',
    }),
  ),
  DELIVERY_TIMEOUT_SECONDS: row(
    '30',
    'How long a delivered job waits for its ack before it returns to the queue',
    seconds(86_400, { zero: false }),
  ),
  MAX_DELIVERIES: row(
    '100',
    'Number of consecutive delivery timeouts, without an ack in between, after which a job is dead',
    integer(1, 1_000_000),
  ),
  RETENTION_SECONDS: row(
    '604800',
    'How long to keep jobs after they have ended; 0 keeps them forever',
    seconds(CENTURY, { zero: true }),
  ),
  COMPAT: row(
    null,
    'With `emit`, responses and space streams have additional fields for clients of emit.run, all three outcomes trigger callbacks, and the delivery window is `timeoutSeconds` of the job. Unset: none of that',
    z.literal('emit', { error: ({ input }) => `must be emit or empty, not ${input}` }) as unknown as z.ZodType<
      'emit',
      string
    >,
  ),
  EVENTS_PER_JOB: row('1000', 'Number of newest events to keep in the history of a job', integer(10, 100_000)),
  EVENT_BYTES_PER_JOB: row(
    '8388608',
    'Maximum memory for the history of a job in Redis, measured at every sixteenth event. Beyond it, the oldest events are dropped, but never the newest ten',
    bytes,
  ),
  LOGS_PER_JOB: row('10000', 'Number of newest log entries to keep per job', integer(1, 1_000_000)),
  KEYS_PER_SPACE: row(
    '1000',
    'Maximum number of API keys bound to a space; beyond it, creating one returns 429. Keys that are not bound to a space do not count',
    integer(1, 1_000_000),
  ),
  SCHEDULES_PER_SPACE: row(
    '1000',
    'Maximum number of schedules in a space; beyond it, creating one returns 429',
    integer(1, 5_000),
  ),
  LOG_BYTES_PER_JOB: row(
    '33554432',
    'Maximum memory for the logs of a job in Redis, measured at every sixteenth entry. Beyond it, the oldest entries are dropped, but never the newest ten',
    bytes,
  ),
  MAX_IN_FLIGHT: row(
    '2000',
    'Maximum number of requests that an API process serves at once; more get a 503 before anything is done. A tenth is reserved for ack, heartbeats, complete, fail, release, settle and kill, and a space gets at most half while others need room',
    integer(1, 1_000_000),
  ),
  WAITERS_PER_PROCESS: row(
    '10000',
    'Maximum number of calls with `waitSeconds` that wait at once in an API process; more get a 429',
    integer(1, 1_000_000),
  ),
  DURABILITY: row(
    'local',
    'With `replicated`, the calls create, complete, fail, release, settle, kill, requeue, reschedule, copy and delete succeed only once a replica of Redis has the change; see docs/redis.md#synchronous-replication',
    z.enum(['local', 'replicated'], { error: 'must be local or replicated' }) as unknown as z.ZodType<
      'local' | 'replicated',
      string
    >,
  ),
  ALLOW_EVICTION: row(
    'false',
    'Whether to accept new jobs even if Redis has a memory limit and may evict keys. Once its memory is full, it then deletes jobs in any status',
    flag,
  ),
  MAX_BODY_BYTES: row('1048576', 'Maximum size of a request body, as sent and decompressed', bytes),
  MAX_BATCH_BYTES: row(
    '5242880',
    'Maximum size of a body that creates or settles several jobs, as sent and decompressed',
    bytes,
  ),
  MAX_PAYLOAD_BYTES: row('262144', 'Maximum size of `payload` and `result`, as JSON', bytes),
  MAX_EVENT_BYTES: row('65536', 'Maximum size of progress, a checkpoint, an event or an error, as JSON', bytes),
  MAX_LOG_ENTRIES: row('1000', 'Maximum number of entries in a batch of logs', integer(1, 5_000)),
  MAX_LOG_BATCH_BYTES: row('5242880', 'Maximum size of a batch of logs, decompressed', bytes),
  MAX_LOG_WIRE_BYTES: row('1048576', 'Maximum size of a batch of logs, as sent', bytes),
  MAX_LOG_ENTRY_BYTES: row('16384', 'Maximum size of a log entry, as JSON', bytes),
  CORS_ORIGINS: row(
    null,
    'Origins whose pages may call the API or read server-sent events from a browser, comma-separated, or `*`. WebSockets need no entry. Unset: none',
    origins,
  ),
  KEEP_ALIVE_SECONDS: row(
    '75',
    'How long idle connections stay open. Set it higher than the idle timeout of your load balancer; see docs/deploy.md#load-balancer-timeouts',
    seconds(86_400, { zero: false }),
  ),
  UI: row('true', 'Whether the API serves the dashboard at `/ui/`', flag),
  ANONYMOUS_STREAMS: row('true', 'Whether the progress of a job can be streamed without a token', flag),
  STREAMS_PER_ADDRESS: row(
    '256',
    'Maximum number of streams without a token per client address (IPv6: per /64 network), in each process',
    integer(0, 1_000_000),
  ),
  STREAMS_PER_SPACE: row(
    '20000',
    'Maximum number of streams opened with API keys bound to a space, in each process',
    integer(0, 1_000_000),
  ),
  STREAMS_PER_JOB: row(
    '5000',
    'Maximum number of streams per job, in each process; the last tenth requires a token',
    integer(0, 1_000_000),
  ),
  TRUSTED_PROXIES: row(
    null,
    'Proxies whose `X-Forwarded-For` is trusted: addresses, networks, `loopback`, `linklocal`, `uniquelocal`, comma-separated. Unset: none',
    networks,
  ),
  CALLBACK_SIGNING_SECRET: row(
    null,
    'Master secret (`whsec_…`). The callbacks of each space are signed as in Standard Webhooks, with a secret derived from it. To rotate it, list several, comma-separated, newest first. The API and the scheduler need the same value. Unset: callbacks are not signed',
    signingSecrets,
  ),
  CALLBACK_SIGNING_SECRET_FILE: row(
    null,
    'File that contains `CALLBACK_SIGNING_SECRET`, which must then be unset. Reread every minute',
    z.string(),
  ),
  CALLBACK_RETRY_DELAYS: row(
    '5,30,120,600,3600,21600',
    'Seconds before each retry of a failed callback (±20%), comma-separated; `none` for no retries',
    retryDelays,
  ),
  CALLBACK_ALLOW_PRIVATE: row(
    null,
    'Whether callbacks may be sent to private, loopback and other non-public addresses. Unset: only in a standalone whose `HOST` is a loopback address',
    flag,
  ),
  CALLBACK_DNS_SERVERS: row(
    null,
    'DNS servers that resolve the hosts of callbacks, comma-separated. Unset: those of the system',
    dnsServers,
  ),
  CALLBACKS_PER_HOST: row(
    '32',
    'Maximum number of callbacks that a process sends to one host at once',
    integer(1, 10_000),
  ),
  METRICS_SPACES: row(
    '100',
    'Number of most recently used spaces whose pending jobs the scheduler shows at `/metrics`; 0 for none',
    integer(0, 10_000),
  ),
  QUEUE_DEPTH_NAMES: row(
    null,
    'Job names whose pending jobs the scheduler always shows at `/metrics`: up to 100 entries of the form `space/name`, comma-separated. In a name, write `%2C` for a comma and `%25` for `%`. Unset: none',
    nameQueues,
  ),
  LOG_LEVEL: row(
    'info',
    'Minimum level to log: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`; `debug` logs every request',
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be trace, debug, info, warn, error, fatal or silent',
    }) as unknown as z.ZodType<string, string>,
  ),
  SHUTDOWN_SECONDS: row(
    '25',
    'How long a process may take to shut down after SIGTERM. Open work is cut off after half of it',
    seconds(3_600, { zero: false }),
  ),
} as const;

export type VariableName = keyof typeof VARIABLES;

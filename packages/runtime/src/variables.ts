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

// One row per environment variable of any of our processes. docs/configuration.md shows the same rows; a test compares
// them.

interface Variable<T, D extends string | null> {
  /** Default as docs/configuration.md shows it; null for none. */
  default: D;
  /** One or two sentences for an operator. */
  meaning: string;
  schema: z.ZodType<T, string>;
}

function row<T, D extends string | null>(byDefault: D, meaning: string, schema: z.ZodType<T, string>): Variable<T, D> {
  return { default: byDefault, meaning, schema };
}

/** Fewest characters of an admin key, so that it cannot be guessed even when a person has made it up. */
export const ADMIN_KEY_LENGTH = 32;

/** A hundred years, in seconds. */
const CENTURY = 100 * 366 * 86_400;

/** Environment variables of all processes, by name. */
export const VARIABLES = {
  PORT: row('8080', 'Port to listen on; 0 picks a free one', integer(0, 65_535)),
  HOST: row('127.0.0.1', 'Address to listen on', z.string()),
  REDIS_URL: row(
    null,
    'Redis that stores everything: `redis://host:port/db`, `redis+sentinel://host,…/name`, `redis+cluster://host,…`, with `rediss` for TLS, or `unix:///path`; see docs/redis.md. Unset: the standalone runs a private one; every other process refuses to start',
    redisUrl,
  ),
  REDIS_URL_FILE: row(null, 'File with the `REDIS_URL`, which must then be unset. It is read at the start', z.string()),
  DATA_DIR: row('.data', 'Standalone only: folder of its private Redis and its admin key', z.string()),
  CLOCK: row(
    'redis',
    'Standalone only: `manual` for tests of programs, see docs/testing.md. Jobs then follow a clock that stands still until `POST /test/clock` advances it',
    z.enum(['redis', 'manual'], { error: 'must be redis or manual' }) as unknown as z.ZodType<
      'redis' | 'manual',
      string
    >,
  ),
  REDIS_TIMEOUT_SECONDS: row(
    '1.5',
    'How long Redis may take for one command. A call that needs several may take 0.3 s more; its response is then 503',
    seconds(60, { zero: false }),
  ),
  ADMIN_API_KEY: row(
    null,
    'A key with every scope in every space, at least 32 characters. Unset: the standalone makes one; the API refuses to start unless keys exist',
    z
      .string()
      .min(ADMIN_KEY_LENGTH, { error: `must have at least ${ADMIN_KEY_LENGTH} characters` })
      .regex(/^[\x21-\x7e]+$/, {
        error: 'must be printable ASCII without spaces',
      }),
  ),
  ADMIN_API_KEY_FILE: row(
    null,
    'File with the `ADMIN_API_KEY`, which must then be unset. It is read again each minute',
    z.string(),
  ),
  KEY_PREFIX: row(
    'ym',
    'First part of every Redis key',
    z.string().regex(/^[A-Za-z0-9._-]{1,32}$/, {
      error: 'must be 1 to 32 characters of A-Z a-z 0-9 . _ -',
    }),
  ),
  DELIVERY_TIMEOUT_SECONDS: row(
    '30',
    'How long a delivered job waits for its ack before it is pending again',
    seconds(86_400, { zero: false }),
  ),
  MAX_DELIVERIES: row(
    '100',
    'Delivery timeouts in a row, without an ack between them, after which a job is dead',
    integer(1, 1_000_000),
  ),
  RETENTION_SECONDS: row('604800', 'How long an ended job stays; 0 keeps it forever', seconds(CENTURY, { zero: true })),
  COMPAT: row(
    null,
    '`emit`: responses and space streams have more fields for clients of emit.run, callbacks follow all three ends, and the delivery window is `timeoutSeconds` of the job. Unset: none of that',
    z.literal('emit', { error: ({ input }) => `must be emit or empty, not ${input}` }) as unknown as z.ZodType<
      'emit',
      string
    >,
  ),
  EVENTS_PER_JOB: row('1000', 'Newest events that the history of a job keeps', integer(10, 100_000)),
  EVENT_BYTES_PER_JOB: row(
    '8388608',
    'Memory that the history of a job may take in Redis, measured with every sixteenth event; its oldest events are dropped, except the newest ten',
    bytes,
  ),
  LOGS_PER_JOB: row('10000', 'Newest log entries that a job keeps', integer(1, 1_000_000)),
  KEYS_PER_SPACE: row(
    '1000',
    'API keys of one space; another is refused with 429. Keys of every space are not counted',
    integer(1, 1_000_000),
  ),
  LOG_BYTES_PER_JOB: row(
    '33554432',
    'Memory that the logs of a job may take in Redis, measured with every sixteenth entry; their oldest entries are dropped, except the newest ten',
    bytes,
  ),
  MAX_IN_FLIGHT: row(
    '2000',
    'Requests that one process of the API serves at once; a tenth is reserved for ack, heartbeats, complete, fail, release, settle and kill, and one space gets at most half while others need places. Others get 503 before anything is done',
    integer(1, 1_000_000),
  ),
  WAITERS_PER_PROCESS: row(
    '10000',
    'Calls with `waitSeconds` that wait at once in one process of the API; others that would have to wait get 429',
    integer(1, 1_000_000),
  ),
  DURABILITY: row(
    'local',
    '`replicated`: create, complete, fail, release, settle, kill, requeue, reschedule, copy and delete succeed only once a replica of Redis has the change. See docs/redis.md#synchronous-replication',
    z.enum(['local', 'replicated'], { error: 'must be local or replicated' }) as unknown as z.ZodType<
      'local' | 'replicated',
      string
    >,
  ),
  ALLOW_EVICTION: row(
    'false',
    'Whether jobs are created although Redis has a memory limit and may evict keys. It then deletes jobs in any status once its memory is full',
    flag,
  ),
  MAX_BODY_BYTES: row('1048576', 'Largest request body, as sent and inflated', bytes),
  MAX_BATCH_BYTES: row('5242880', 'Largest body that creates or settles several jobs, as sent and inflated', bytes),
  MAX_PAYLOAD_BYTES: row('262144', 'Largest `payload` and `result`, as JSON', bytes),
  MAX_EVENT_BYTES: row('65536', 'Largest progress, checkpoint, event and error, as JSON', bytes),
  MAX_LOG_ENTRIES: row('1000', 'Most entries in one batch of logs', integer(1, 5_000)),
  MAX_LOG_BATCH_BYTES: row('5242880', 'Largest batch of logs, inflated', bytes),
  MAX_LOG_WIRE_BYTES: row('1048576', 'Largest batch of logs, as sent', bytes),
  MAX_LOG_ENTRY_BYTES: row('16384', 'Largest log entry, as JSON', bytes),
  CORS_ORIGINS: row(
    null,
    'Origins whose pages may call the API or read server-sent events from a browser, comma-separated, or `*`. WebSockets need no entry. Unset: none',
    origins,
  ),
  KEEP_ALIVE_SECONDS: row(
    '75',
    'How long idle connections stay open. Set it higher than the idle timeout of your load balancer: see docs/deploy.md#load-balancer-timeouts',
    seconds(86_400, { zero: false }),
  ),
  UI: row('true', 'Whether the API serves the dashboard at `/ui/`', flag),
  ANONYMOUS_STREAMS: row('true', 'Whether a job stream may be opened without a token, to see its progress', flag),
  STREAMS_PER_ADDRESS: row(
    '256',
    'Streams without a token at once, for each client address (IPv6: each /64 network), in one process',
    integer(0, 1_000_000),
  ),
  STREAMS_PER_SPACE: row(
    '20000',
    'Streams at once with the API keys of one space, in one process',
    integer(0, 1_000_000),
  ),
  STREAMS_PER_JOB: row(
    '5000',
    'Streams at once of each job, in one process; the last tenth only with a token',
    integer(0, 1_000_000),
  ),
  TRUSTED_PROXIES: row(
    null,
    'Proxies whose `X-Forwarded-For` is trusted: addresses, networks, `loopback`, `linklocal`, `uniquelocal`, comma-separated. Unset: none',
    networks,
  ),
  CALLBACK_SIGNING_SECRET: row(
    null,
    'Master secret, `whsec_…`. The callbacks of each space are signed by Standard Webhooks with a secret derived from it. To change it, give several, comma-separated, newest first. The API and the scheduler need the same. Unset: not signed',
    signingSecrets,
  ),
  CALLBACK_SIGNING_SECRET_FILE: row(
    null,
    'File with the `CALLBACK_SIGNING_SECRET`, which must then be unset. It is read again each minute',
    z.string(),
  ),
  CALLBACK_RETRY_DELAYS: row(
    '5,30,120,600,3600,21600',
    'Seconds until each retry of a callback that failed, ±20%, comma-separated; `none` for no retries',
    retryDelays,
  ),
  CALLBACK_ALLOW_PRIVATE: row(
    null,
    'Whether callbacks may go to private, loopback and other non-public addresses. Unset: only in a standalone whose HOST is a loopback address',
    flag,
  ),
  CALLBACK_DNS_SERVERS: row(
    null,
    "DNS servers that resolve the names of callbacks' hosts, comma-separated. Unset: those of the system",
    dnsServers,
  ),
  CALLBACKS_PER_HOST: row('32', 'Callbacks sent to one host at once, by one process', integer(1, 10_000)),
  METRICS_SPACES: row(
    '100',
    'Most recently used spaces whose pending jobs the scheduler shows at `/metrics`; 0 for none',
    integer(0, 10_000),
  ),
  QUEUE_DEPTH_NAMES: row(
    null,
    'Names of jobs whose pending jobs the scheduler always shows at `/metrics`, each as `space/name`, comma-separated, at most 100. In a name, write `%2C` for a comma and `%25` for `%`. Unset: none',
    nameQueues,
  ),
  LOG_LEVEL: row(
    'info',
    'trace, debug, info, warn, error, fatal or silent; debug shows every request',
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be trace, debug, info, warn, error, fatal or silent',
    }) as unknown as z.ZodType<string, string>,
  ),
  SHUTDOWN_SECONDS: row(
    '25',
    'How long a process may take to end after SIGTERM. Open work is cut off after half of it',
    seconds(3_600, { zero: false }),
  ),
} as const;

export type VariableName = keyof typeof VARIABLES;

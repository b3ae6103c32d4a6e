// Tests that are no black box, by what they need instead. The others of test/{api,cli,examples,gateway,logs,scheduler} need
// nothing but the address of a service and of its Redis, so they also run behind nginx.

/** Need no service: pure functions, documents, the command line. */
const NO_SERVICE = [
  'api/parts',
  'cli/connection',
  'cli/printable',
  'cli/program',
  'cli/screen',
  'gateway/sessions',
  'scheduler/callback-attempts',
];

/** Stop, pause, fill, count or configure a Redis of their own. */
const OWN_REDIS = [
  'api/openapi-responses',
  'api/process-logs',
  'api/redis-commands',
  'cli/fsck',
  'gateway/logs',
  'gateway/process',
  'logs/read-cost',
  'scheduler/delivery',
];

/** Look into a process of their own: its memory, its log, its connections, or parts of it put together otherwise. */
const OWN_PROCESS = [
  'api/router',
  'api/rejected-keys',
  'gateway/lifetime',
  'gateway/races',
  'logs/append-writers',
  'scheduler/process',
];

/** Are about bytes, connections and probes, which nginx answers; test/clients/nginx-upstreams.client.ts has what passes it. */
const BARE_HTTP = ['api/connections', 'api/http', 'gateway/handshake', 'gateway/tokens'];

/** Compare settings, each with a service or a scheduler of its own. */
const OWN_SETTINGS = ['api/settings', 'scheduler/callback-addresses', 'scheduler/redeliver'];

export const EXCLUDED = [...NO_SERVICE, ...OWN_REDIS, ...OWN_PROCESS, ...BARE_HTTP, ...OWN_SETTINGS];

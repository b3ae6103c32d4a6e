// Tests that cannot run behind nginx, by what they need. The others of test/{api,cli,examples,gateway,logs,scheduler} only
// need the addresses of a service and its Redis.

/** Need no service: pure functions, documents, the command line. */
const NO_SERVICE = [
  'api/parts',
  'cli/output',
  'cli/program',
  'gateway/sessions',
  'scheduler/callback-attempts',
  'scheduler/host-limiter',
];

/** Stop, pause, fill, count or configure a Redis of their own. */
const OWN_REDIS = [
  'api/openapi-responses',
  'api/process-logs',
  'api/round-trips',
  'cli/fsck',
  'gateway/logs',
  'gateway/process',
  'logs/read-cost',
  'scheduler/attempt',
  'scheduler/dispatcher',
];

/** Read the memory, log, counts or connections of a process of their own, or combine its parts in another way. */
const OWN_PROCESS = [
  'api/keys',
  'api/router',
  'gateway/lifetime',
  'gateway/races',
  'logs/append-writers',
  'scheduler/process',
];

/** Test bytes, connections and probes, which nginx handles; see test/clients/nginx-upstreams.client.ts. */
const BARE_HTTP = ['api/connections', 'api/http', 'gateway/handshake', 'gateway/tokens'];

/** Compare settings, each with a service or a scheduler of its own. */
const OWN_SETTINGS = ['api/settings', 'api/ui', 'scheduler/callback-addresses', 'scheduler/redeliver'];

export const EXCLUDED = [...NO_SERVICE, ...OWN_REDIS, ...OWN_PROCESS, ...BARE_HTTP, ...OWN_SETTINGS];

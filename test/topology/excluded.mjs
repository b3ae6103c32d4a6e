// Which tests are no black box, by what they need instead. The rest of test/api, cli, examples, gateway, logs and scheduler is.

/** Need no service: pure functions, documents, the command line. */
const NO_SERVICE = [
  'api/body-pieces',
  'api/fast-express',
  'api/openapi-verbs',
  'api/within',
  'cli/backoff',
  'cli/command-line',
  'cli/connection',
  'cli/docs',
  'cli/logs-answers',
  'cli/logs-command-line',
  'cli/printable',
  'cli/refused-kept-alive',
  'cli/screen',
  'scheduler/callback-rules',
  'scheduler/lines',
];

/** Stop, pause, fill, count or configure a Redis of their own; test/redis does what makes sense of that on each kind. */
const OWN_REDIS = [
  'api/openapi-answers',
  'api/outage',
  'api/process-logs',
  'api/round-trips',
  'api/start',
  'cli/logs-outage',
  'gateway/interruptions',
  'gateway/logs-gaps',
  'gateway/logs-interruptions',
  'gateway/logs-slow',
  'gateway/process',
  'logs/append-outage',
  'logs/append-pile',
  'logs/search-redis',
  'scheduler/crash',
  'scheduler/faults',
  'scheduler/full',
  'scheduler/liveness',
  'scheduler/stopping',
];

/** Look into a process of their own: its memory, its log, its connections, or parts of it put together otherwise. */
const OWN_PROCESS = [
  'api/large-answers',
  'gateway/lifetime',
  'gateway/logs-catching-up',
  'gateway/logs-races',
  'gateway/races',
  'gateway/slow-clients',
  'logs/append-memory',
  'logs/append-senders',
  'logs/append-swollen',
  'logs/append-writers',
  'logs/hang-up',
  'logs/paging-large',
  'scheduler/bullmq-keys',
  'scheduler/callback-tls',
  'scheduler/clocks',
  'scheduler/schedulers',
];

/** Are about bytes, connections, probes and sizes that end at nginx; test/clients/nginx-upstreams.client.ts has what holds
 * through it. */
const BARE_HTTP = ['api/direct-host', 'api/http', 'gateway/pipelining', 'gateway/refusals', 'logs/append-sizes'];

/** Compare settings, each with a service or a scheduler of its own. */
const OWN_SETTINGS = ['scheduler/callback-addresses', 'scheduler/callback-names', 'scheduler/redeliver'];

export const EXCLUDED = [...NO_SERVICE, ...OWN_REDIS, ...OWN_PROCESS, ...BARE_HTTP, ...OWN_SETTINGS];

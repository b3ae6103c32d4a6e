import { expect, it } from '@jest/globals';
import { VARIABLES } from '@yardmaster/runtime';
import { LEAST, readFile, TRIAL, template, VALUE_SETS } from './chart.js';

/** Nest a value below the keys of a path such as `api.autoscaling.enabled`. */
const at = (path: string, value: unknown): object =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;

it.each([
  'apis',
  'image.tags',
  'redis.uri',
  'redis.existingSecret.keys',
  'redis.internal.maxMemory',
  'redis.internal.persistence.class',
  'adminKey.secret',
  'config.RETENTION_SECOND',
  'config.PORT',
  'config.REDIS_URL',
  'config.ADMIN_API_KEY',
  'config.SHUTDOWN_SECONDS',
  'shutdown.graceSeconds',
  'api.replica',
  'api.resources.limit',
  'api.autoscaling.streams',
  'gateway.autoscaling.streams.avarageValue',
  'scheduler.probes.liveness.path',
  'podSecurityContext.runAsUsr',
  'securityContext.readOnlyRootFileSystem',
  'config.UI',
  'ui.path',
  'ingress.gateway.annotation',
  'httpRoute.timeouts.requests',
  'networkPolicy.callbacks.except',
  'monitoring.serviceMonitor.scrapeInterval',
  'monitoring.rules.thresholds.deadJob',
  'testPod.image',
])('the chart refuses the unknown value %s', (path) => {
  const { status, stderr } = template({ ...LEAST, ...at(path, { of: 'no use' }) });
  expect(status).not.toBe(0);
  expect(stderr).toContain(`additional properties '${path.split('.').at(-1)}' not allowed`);
});

it.each([
  ['api.replicas', 'two'],
  ['api.replicas', 0],
  ['api.replicas', 1.5],
  ['scheduler.replicas', 0],
  ['scheduler.autoscaling.minReplicas', 1],
  ['gateway.autoscaling.enabled', 'yes'],
  ['gateway.disruptionBudget.maxUnavailable', 0],
  ['gateway.disruptionBudget.maxUnavailable', '150%'],
  ['image.digest', 'latest'],
  ['image.pullPolicy', 'Sometimes'],
  ['redis.url', 'http://redis:6379'],
  ['redis.url', 'redis.example:6379'],
  ['redis.internal.maxmemory', '1 GB'],
  ['adminKey.value', 'k'.repeat(31)],
  ['callbackSigning.value', 'secret'],
  ['adminKey.file', 'relative'],
  ['config.LOG_LEVEL', 'loud'],
  ['config.MAX_BODY_BYTES', '1 MB'],
  ['config.EVENTS_PER_JOB', -1],
  ['config.ANONYMOUS_STREAMS', 'no'],
  ['config.KEY_PREFIX', 'a:b'],
  ['shutdown.drainSeconds', 0],
  ['shutdown.preStopSeconds', -1],
  ['networkPolicy.redis.ports', []],
  ['networkPolicy.callbacks.exceptIPv4', ['10.0.0.0']],
  ['monitoring.serviceMonitor.interval', '30'],
  ['monitoring.serviceMonitor.scrapeTimeout', '10'],
  ['monitoring.rules.runbooks', 'docs/monitoring.md#'],
  ['ui.enabled', 'yes'],
  ['ingress.hosts', 'jobs.example.com'],
  ['commonLabels', { team: 7 }],
  ['api.service.type', 'Nodeport'],
  ['redis.internal.persistence.size', '2 GB'],
  ['redis.internal.persistence.whenDeleted', 'Keep'],
  ['redis.internal.image.digest', '7.4'],
  ['global.imageRegistry', 'registry.example.com/'],
])('the chart refuses %s: %j', (path, value) => {
  const { status, stderr } = template({ ...LEAST, ...at(path, value) });
  expect(status).not.toBe(0);
  expect(stderr).toContain(`at '/${path.replaceAll('.', '/')}`);
});

it.each([
  ['api.resources.limits.memory', '1GB', '/api/resources/limits/memory'],
  ['gateway.resources.requests.cpu', '0.5 cores', '/gateway/resources/requests/cpu'],
  ['networkPolicy.clients', [{ ipBlock: { cidr: '10.0.0.0' } }], '/networkPolicy/clients/0/ipBlock/cidr'],
  [
    'networkPolicy.redis.to',
    [{ ipBlock: { cidr: '10.0.0.0/8', except: ['x'] } }],
    '/networkPolicy/redis/to/0/ipBlock/except/0',
  ],
  ['networkPolicy.dns.to', [{ podLabels: { app: 'dns' } }], '/networkPolicy/dns/to/0'],
])('the chart refuses %s: %j, which would otherwise fail during the install', (path, value, place) => {
  const { status, stderr } = template({ ...LEAST, ...at(path, value) });
  expect(status).not.toBe(0);
  expect(stderr).toContain(`at '${place}'`);
});

it.each([
  ['64Mi', 'api.resources.limits.memory (64Mi) must not be below api.resources.requests.memory (256Mi)'],
  ['268435455', 'api.resources.limits.memory (268435455) must not be below'],
  ['0.2G', 'api.resources.limits.memory (0.2G) must not be below'],
  ['268435456', null],
  ['1e9', null],
  ['0.25Gi', null],
])('the chart compares the limit %s with the request', (memory, message) => {
  const { stderr } = template({ ...LEAST, api: { resources: { limits: { memory } } } });
  if (message === null) expect(stderr).toBe('');
  else expect(stderr).toContain(message);
});

const URL = 'redis://:a:7000@redis.example/1';

it.each([
  ['no Redis', {}, 'Yardmaster needs a Redis. Set one of:'],
  ['a Secret and a URL', { redis: { url: URL, existingSecret: { name: 'redis' } } }, 'Only one of redis.'],
  ['a URL and a Redis inside', { redis: { url: URL, internal: { enabled: true } } }, 'Only one of redis.'],
  [
    'two admin keys',
    { ...TRIAL, adminKey: { value: 'k'.repeat(32), existingSecret: { name: 'admin' } } },
    'Only one of adminKey.',
  ],
  ['a URL and a file', { redis: { url: URL, file: '/secrets/redis' } }, 'Only one of redis.'],
  [
    'an admin key and a file',
    { ...TRIAL, adminKey: { value: 'k'.repeat(32), file: '/secrets/admin' } },
    'Only one of adminKey.',
  ],
  [
    'two signing secrets',
    { ...TRIAL, callbackSigning: { value: 'whsec_AAAA', existingSecret: { name: 'signing' } } },
    'Only one of callbackSigning.',
  ],
  [
    'maxReplicas below minReplicas',
    { ...TRIAL, api: { autoscaling: { minReplicas: 11 } } },
    'api.autoscaling.minReplicas (11)',
  ],
  ['an Ingress without a host', { ...TRIAL, ingress: { enabled: true } }, 'ingress.hosts'],
  ['an HTTPRoute without a Gateway', { ...TRIAL, httpRoute: { enabled: true } }, 'httpRoute.parentRefs'],
  [
    'a port that the policies do not allow',
    { redis: { url: 'rediss+cluster://:a%40b@one,two:7001' }, networkPolicy: { enabled: true } },
    'redis.url uses port 7001',
  ],
  [
    'the port of Sentinels that the policies do not allow',
    { redis: { url: 'redis+sentinel://one,two/primary' }, networkPolicy: { enabled: true } },
    'redis.url uses port 26379',
  ],
])('the chart refuses contradictory values: %s', (_, values, message) => {
  const { status, stderr } = template(values);
  expect(status).not.toBe(0);
  expect(stderr).toContain(message);
});

it('the chart does not mistake a password for a port', () => {
  expect(template({ redis: { url: URL }, networkPolicy: { enabled: true } }).stderr).toBe('');
});

/** Every Redis URL that an example or the README of the chart shows. */
const SHOWN = ['helm/yardmaster/README.md', ...VALUE_SETS.map((file) => `helm/examples/${file}`)].flatMap((file) =>
  [...readFile(file).matchAll(/redis-url='([^']+)'|name: yardmaster-redis # (\S+)/g)].map(
    ([, a, b]) => (a ?? b) as string,
  ),
);

it.each([
  ...SHOWN,
  'redis://redis:6379',
  'rediss://user:password@redis:6380/2?ca=/etc/redis/ca.crt&servername=redis',
  'redis+sentinel://:password@one:26379,two:26379/primary/1',
  'rediss+sentinel://one:26379/primary',
  'redis+cluster://one:6379,two:6379',
  'rediss+cluster://user:password@one:6379',
  'unix:///run/redis.sock',
])('the chart accepts the Redis URL %s, like the processes', (url) => {
  expect(template({ redis: { url } }).stderr).toBe('');
  expect(VARIABLES.REDIS_URL.schema.safeParse(url).success).toBe(true);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http.js';
import { until } from '../support/until.js';
import { COMPONENTS, containerOf, find, KUBERNETES, type Manifest, ofComponent, readFile, render } from './chart.js';
import { METRICS } from './metric-names.js';
import { environmentOf, portBehind, portOf, type Running, run, secretValue } from './rendered-process.js';
import { type RenderedRedis, startRenderedRedis } from './rendered-redis.js';

// Run the rendered commands, environment, probes and hooks, with other hosts and ports.

// The oldest Kubernetes has no sleep of its own, so that Node does it.
const manifests = render('trial.yaml', { kubernetes: KUBERNETES[0] });
const generated = find(manifests, 'Secret', '-generated').metadata.name;
const adminKey = secretValue(manifests, generated, 'admin-api-key');

let redis: RenderedRedis;
let redisUrl: string;
const ports = new Map<string, number>();
const running = new Map<string, Running>();

/** Run a probe of a container against its process. */
async function probe(component: string, name: string): Promise<number> {
  const container = containerOf(manifests, component);
  const { path, port } = container[`${name}Probe`].httpGet;
  expect(portOf(container, port)).toBe(8080);
  const http = new HttpClient(`http://127.0.0.1:${ports.get(component)}`);
  try {
    return (await http.call('GET', path)).status;
  } catch {
    return 0; // It does not listen yet.
  } finally {
    http.close();
  }
}

/** Run the script of `helm test`, with the addresses of the processes instead of the Services. */
function helmTest(): Running {
  const pod = manifests.find(({ kind }) => kind === 'Pod');
  const command: string[] = pod.spec.containers[0].command.map((argument: string) => {
    const component = COMPONENTS.find((name) => argument === `http://yard-yardmaster-${name}:8080/readyz`);
    return component ? `http://127.0.0.1:${ports.get(component)}/readyz` : argument;
  });
  expect(command.filter((argument) => argument.startsWith('http://127.0.0.1'))).toHaveLength(3);
  return run(command, {});
}

beforeAll(async () => {
  redis = await startRenderedRedis(manifests);
  const rendered = secretValue(manifests, generated, 'redis-url');
  const host = find(manifests, 'Service', '-redis').metadata.name;
  redisUrl = rendered.replace(`@${host}:6379`, `@127.0.0.1:${redis.port}`);
  expect(redisUrl).not.toBe(rendered);
  await until(async () => (await redis.probe()) === 0);
  for (const component of COMPONENTS) {
    const container = containerOf(manifests, component);
    const port = await freePort();
    const environment = environmentOf(manifests, container);
    expect(environment).toMatchObject({ PORT: '8080', REDIS_URL: rendered });
    ports.set(component, port);
    running.set(
      component,
      run(container.command, { NODE_ENV: 'production', ...environment, PORT: String(port), REDIS_URL: redisUrl }),
    );
  }
});

afterAll(async () => {
  for (const { child } of running.values()) child.kill('SIGKILL');
  await redis?.stop();
});

it('the chart configures the internal Redis, which refuses clients without the password', async () => {
  const withoutPassword = new Redis(redis.port, '127.0.0.1', { lazyConnect: true, retryStrategy: null });
  withoutPassword.on('error', () => undefined); // The next line checks the error.
  await expect(withoutPassword.get('key')).rejects.toThrow('NOAUTH');
  withoutPassword.disconnect();
  expect(await redis.probe('another')).not.toBe(0);

  const withPassword = new Redis(redisUrl);
  const settings = await withPassword.config('GET', 'append*', 'maxmemory*', 'save', 'hash-max-ziplist-value');
  withPassword.disconnect();
  const pairs = Object.fromEntries(
    (settings as string[]).flatMap((name, i, all) => (i % 2 ? [] : [[name, all[i + 1]]])),
  );
  expect(pairs).toMatchObject({
    appendonly: 'yes',
    appendfsync: 'everysec',
    maxmemory: String(256 * 1_048_576),
    'maxmemory-policy': 'noeviction',
    'hash-max-ziplist-value': '1024',
    save: '',
  });
});

describe.each(COMPONENTS)('rendered %s', (component) => {
  it.each(['startup', 'readiness', 'liveness'])(`the rendered ${component} passes its %s probe`, async (name) => {
    await until(async () => (await probe(component, name)) === 200);
  });
});

describe('rendered ServiceMonitor', () => {
  const monitor = find(render('everything.yaml'), 'ServiceMonitor').spec.endpoints[0];
  const scrape = async (component: string) => {
    const service = ofComponent(manifests, 'Service', component);
    expect(portBehind(service, containerOf(manifests, component), monitor.port)).toBe(8080);
    const http = new HttpClient(`http://127.0.0.1:${ports.get(component)}`);
    const { status, text } = await http.call('GET', monitor.path);
    http.close();
    return { status, names: [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string) };
  };

  it.each(COMPONENTS)('the rendered ServiceMonitor scrapes the metrics of the %s', async (component) => {
    const { status, names } = await scrape(component);
    expect(status).toBe(200);
    expect(names).toContain('yardmaster_build_info');
  });

  it('the rendered ServiceMonitor scrapes every metric that the dashboard and the alerts use', async () => {
    const exported = (await Promise.all(COMPONENTS.map(scrape))).flatMap(({ names }) => names);
    expect(Object.keys(METRICS).filter((name) => !exported.includes(name))).toEqual([]);
  });
});

it('the rendered API accepts the admin key', async () => {
  const http = new HttpClient(`http://127.0.0.1:${ports.get('api')}`);
  const created = await http.call('POST', '/api/v1/spaces/demo/jobs', { key: adminKey, body: { name: 'hello' } });
  http.close();
  expect(created.status).toBe(201);
});

it('the command of docs/backup.md runs fsck in a pod', async () => {
  const [, pod = '', command = ''] =
    /exec deploy\/yardmaster-(\w+) -- (node .*)$/m.exec(readFile('docs/backup.md')) ?? [];
  const environment = environmentOf(manifests, containerOf(manifests, pod));
  const fsck = run(command.split(' '), { ...environment, REDIS_URL: redisUrl });
  expect({ code: await fsck.exit, output: fsck.output() }).toMatchObject({ code: 0 });
});

it('`helm test` passes while all processes are ready', async () => {
  const test = helmTest();
  expect({ code: await test.exit, output: test.output() }).toMatchObject({ code: 0 });
});

it('each process keeps serving during its preStop hook, and exits with 0 on SIGTERM', async () => {
  const stopped = await Promise.all(
    COMPONENTS.map(async (component) => {
      const { child, exit } = running.get(component) as Running;
      const hook = run(containerOf(manifests, component).lifecycle.preStop.exec.command, {});
      const slept = await hook.exit;
      const served = await probe(component, 'readiness');
      child.kill('SIGTERM');
      return { component, slept, served, exited: await exit };
    }),
  );
  expect(stopped).toEqual(COMPONENTS.map((component) => ({ component, slept: 0, served: 200, exited: 0 })));

  expect(await helmTest().exit).toBe(1);
});

it('the internal Redis saves its data and exits with 0', async () => {
  expect(await redis.stop()).toBe(0);
});

it('the components run only programs that are in their image', () => {
  const commands: Manifest[] = COMPONENTS.map((component) => containerOf(manifests, component).command[0]);
  expect(commands).toEqual(['node', 'node', 'node']);
});

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { type Nginx, startNginx } from './nginx.js';
import { type ComposeService, commandOf, passedOn, readCompose } from './topology/compose.js';
import { runToEnd, startProcess, type TopologyProcess } from './topology/process.js';
import { REDIS_KINDS, type RedisKind } from './topology/redis.js';

/** As `docker compose up --scale gateway=2`, so that streams are spread over two gateways. */
const SCALE: Record<string, number> = { gateway: 2 };

/** Among containers, Docker's addresses; here, this machine's own. */
const TRUSTED_PROXIES = 'loopback';

export interface TopologyOptions {
  /** Default: one server on a unix socket. */
  redis?: RedisKind;
  /** Variables for all processes; docker-compose.yml must pass them on. */
  env?: Record<string, string>;
  /** Number of processes of a service, where it differs from docker-compose.yml. */
  scale?: Record<string, number>;
}

/** The services of docker-compose.yml as processes of this machine. */
export interface Topology {
  /** The address of nginx, the only one that a caller needs. */
  url: string;
  adminKey: string;
  redisUrl: string;
  /** First part of every key in Redis. */
  prefix: string;
  /** All but Redis and nginx. */
  processes: TopologyProcess[];
  nginx: Nginx;
  /** Stop all. @throws when a process ended on its own, or did not exit 0 on SIGTERM */
  stop(): Promise<void>;
}

/** Start what docker-compose.yml describes: Redis, the processes, and nginx in front. */
export async function startTopology(options: TopologyOptions = {}): Promise<Topology> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    const outcomes = [];
    for (const end of ends.splice(0).reverse()) outcomes.push(...(await Promise.allSettled([end()])));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  };
  try {
    return { ...(await start(options, ends)), stop };
  } catch (error) {
    await stop().catch(() => undefined); // The first error is the cause.
    throw error;
  }
}

/** @param ends gets a function that stops each thing that was started */
async function start(
  { redis: kind = 'single', env = {}, scale = {} }: TopologyOptions,
  ends: (() => Promise<unknown>)[],
): Promise<Omit<Topology, 'stop'>> {
  const { secrets, ...services } = readCompose().services as { secrets: ComposeService } & Record<
    string,
    ComposeService
  >;
  const ours = Object.entries(services).filter(([, service]) => service.image === secrets.image);
  checkGiven(env, ours, secrets);

  const redis = await REDIS_KINDS[kind]();
  ends.push(() => redis.stop());
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-topology-'));
  ends.push(() => rm(dir, { recursive: true, force: true }));

  const replaced = { REDIS_URL: redis.url, TRUSTED_PROXIES };
  const command = (service: ComposeService) => commandOf(service, { given: env, replaced, volumes: { secrets: dir } });
  await runToEnd(command(secrets));

  const ports: Record<string, number[]> = {};
  const starting: Promise<TopologyProcess>[] = [];
  for (const [name, service] of ours) {
    const count = scale[name] ?? SCALE[name] ?? service.deploy?.replicas ?? 1;
    ports[name] = [];
    for (let i = 1; i <= count; i++) {
      const port = await freePort();
      ports[name].push(port);
      starting.push(startProcess(`${name}-${i}`, port, command(service)));
    }
  }
  const outcomes = await Promise.allSettled(starting);
  const processes = outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
  ends.push(() => endAll(processes));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;

  const addresses = (name: string) => (ports[name] ?? []).map((port) => `127.0.0.1:${port}`);
  const upstreams = { api: addresses('api'), gateway: addresses('gateway') };
  const nginx = await startNginx(upstreams); // Not that of Compose, which leaves out a process for 3 s after a failed call.
  ends.push(() => nginx.stop());

  return {
    url: nginx.url,
    adminKey: await readFile(join(dir, 'ADMIN_API_KEY'), 'utf8'),
    redisUrl: redis.url,
    prefix: env.KEY_PREFIX ?? 'ym',
    processes,
    nginx,
  };
}

/** Refuse settings that docker-compose.yml passes to no process: they are a mistake of the caller. */
function checkGiven(env: Record<string, string>, services: [string, ComposeService][], secrets: ComposeService): void {
  for (const name of Object.keys(env)) {
    if (!passedOn(secrets).includes(name) && !services.every(([, service]) => passedOn(service).includes(name)))
      throw new Error(`docker-compose.yml does not pass on ${name}`);
  }
}

async function endAll(processes: TopologyProcess[]): Promise<void> {
  const bad: string[] = [];
  await Promise.all(
    processes.map(async (each) => {
      const wasStopped = each.isStopped();
      const code = await each.stop();
      if (!wasStopped && code !== 0) bad.push(`${each.name} ended with ${code}: ${each.output().slice(-4_000)}`);
    }),
  );
  if (bad.length > 0) throw new Error(bad.join('\n'));
}

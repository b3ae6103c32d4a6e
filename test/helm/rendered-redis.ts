import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedisServer } from '@yardmaster/redis';
import { freePort } from '../support/free-port.js';
import { find, type Manifest } from './chart.js';
import { environmentOf, type Running, run, secretValue } from './rendered-process.js';

const CACHE_DIR = fileURLToPath(new URL('../../.cache/redis', import.meta.url));

export interface RenderedRedis extends Running {
  port: number;
  /** Run the rendered readiness probe to its end. */
  probe(password?: string): Promise<number | null>;
  stop(): Promise<number | null>;
}

/**
 * Start the command of the rendered StatefulSet with a redis-server of this machine. Its volumes are folders, and its port
 * is a free one. Everything else is as rendered.
 */
export async function startRenderedRedis(manifests: Manifest[]): Promise<RenderedRedis> {
  const { spec } = find(manifests, 'StatefulSet').spec.template;
  const [container] = spec.containers;
  const binary = await findRedisServer(CACHE_DIR, () => undefined);
  const [config, data] = await Promise.all(
    ['config', 'data'].map((name) => mkdtemp(join(tmpdir(), `yardmaster-${name}-`))),
  );
  const port = await freePort();

  const mounted = (name: string) => container.volumeMounts.find((mount: Manifest) => mount.name === name).mountPath;
  const here = (text: string) =>
    text
      .replaceAll(mounted('config'), config as string)
      .replace(`dir ${mounted('data')}`, `dir ${data}`)
      .replace('port 6379', `port ${port}`);
  for (const { configMap, secret } of spec.volumes[0].projected.sources) {
    for (const [file, text] of configMap
      ? Object.entries<string>(find(manifests, 'ConfigMap', configMap.name).data)
      : secret.items.map(({ key, path }: Manifest) => [path, secretValue(manifests, secret.name, key)])) {
      await writeFile(join(config as string, file), here(text));
    }
  }

  const server = [binary.command, ...binary.args];
  // The packages of Debian install both into one folder.
  const client = server.map((part) => part.replace(/(redis|valkey)-server$/, '$1-cli'));
  const programs = { 'redis-server': server, 'redis-cli': client };
  const environment: Record<string, string> = {
    PATH: process.env.PATH as string,
    ...environmentOf(manifests, container),
  };
  const running = run(container.command.map(here), environment, programs);
  return {
    ...running,
    port,
    probe(password = environment.REDISCLI_AUTH as string) {
      const [program, ...args] = container.readinessProbe.exec.command;
      return run([program, '-p', String(port), ...args], { ...environment, REDISCLI_AUTH: password }, programs).exit;
    },
    async stop() {
      running.child.kill('SIGTERM');
      const code = await running.exit;
      await Promise.all([config, data].map((folder) => rm(folder as string, { recursive: true, force: true })));
      return code;
    },
  };
}

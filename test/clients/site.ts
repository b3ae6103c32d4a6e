import { randomUUID } from 'node:crypto';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http.js';
import { type Nginx, startNginx } from '../support/nginx.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { ADMIN_KEY, sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

/** The service as in docs/streams.md: an API process and a gateway process behind nginx. */
export interface Site {
  nginx: Nginx;
  /** The whole log of the gateway. */
  gatewayLog(): string;
  /** Call an endpoint below /api/v1 through nginx with the admin key. @throws unless it succeeds */
  // biome-ignore lint/suspicious/noExplicitAny: as in test/support/http.ts
  call(method: string, path: string, body?: unknown): Promise<any>;
  /** Create a job and return its id. */
  job(fields?: Record<string, unknown>): Promise<string>;
  /** Make an API key for the site's space. */
  key(...scopes: string[]): Promise<string>;
  /** The space of the site's jobs. */
  spaceId: string;
  /** URL of the gateway itself, without nginx. */
  gatewayUrl: string;
  /** @param signal default SIGTERM, so that it closes its streams first */
  haltGateway(signal?: 'SIGKILL'): Promise<void>;
  startGateway(): Promise<void>;
  stop(): Promise<void>;
}

const spaceId = 'demo';

/** @param env additional variables of the gateway */
export async function startSite(env: Record<string, string> = {}): Promise<Site> {
  const ends: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    return { ...(await start(env, ends)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param ends gets a function that stops each thing that was started */
async function start(env: Record<string, string>, ends: (() => unknown)[]): Promise<Omit<Site, 'stop'>> {
  const variables = {
    REDIS_URL: sharedService().redisUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    KEY_PREFIX: `t-${randomUUID().slice(0, 8)}`,
  };
  const ports = { api: await freePort(), gateway: await freePort() };
  const gatewayVariables = { ...variables, LOG_LEVEL: 'debug', TRUSTED_PROXIES: 'loopback', ...env };

  const api = runApp('api', { ...variables, PORT: `${ports.api}` });
  ends.push(() => api.stop());
  await listening(api);

  let gateway: RunningProcess;
  let earlierLog = '';
  async function startGateway(): Promise<void> {
    gateway = runApp('gateway', { ...gatewayVariables, PORT: `${ports.gateway}` });
    await listening(gateway);
  }
  async function haltGateway(signal?: 'SIGKILL'): Promise<void> {
    await gateway.stop(signal);
    earlierLog += gateway.output();
  }
  ends.push(() => gateway?.stop());
  await startGateway();

  const nginx = await startNginx({ api: [`127.0.0.1:${ports.api}`], gateway: [`127.0.0.1:${ports.gateway}`] });
  ends.push(() => nginx.stop());
  const http = new HttpClient(nginx.url);
  ends.push(() => http.close());

  async function call(method: string, path: string, body?: unknown) {
    const response = await http.call(method, `/api/v1${path}`, { key: ADMIN_KEY, body });
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response.body;
  }

  return {
    nginx,
    spaceId,
    gatewayUrl: `http://127.0.0.1:${ports.gateway}`,
    gatewayLog: () => earlierLog + gateway.output(),
    call,
    job: async (fields = {}) => (await call('POST', `/spaces/${spaceId}/jobs`, { name: 'resize', ...fields })).id,
    key: async (...scopes) => (await call('POST', '/keys', { name: 'test', scopes, spaceId })).key,
    haltGateway,
    startGateway,
  };
}

async function listening(process: RunningProcess): Promise<RunningProcess> {
  await until(() => {
    if (process.child.exitCode !== null) throw new Error(`not started: ${process.output()}`);
    return process.output().includes('"url":');
  });
  return process;
}

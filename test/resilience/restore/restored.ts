import { HttpClient } from '../../support/http.js';
import { type RunningProcess, runApp } from '../../support/process.js';
import { ADMIN_KEY } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

/** The service as separate processes on a restored Redis. */
export interface Restored {
  gatewayUrl: string;
  call(method: string, path: string, body?: unknown): ReturnType<HttpClient['call']>;
  stop(): Promise<void>;
}

/** Wait until a process listens, and return its URL. */
async function urlOf({ output }: RunningProcess): Promise<string> {
  const url = () => /"url":"([^"]+)"/.exec(output())?.[1];
  await until(() => url() !== undefined);
  return url() as string;
}

export async function startRestored(env: Record<string, string>): Promise<Restored> {
  const variables = { ...env, PORT: '0', ADMIN_API_KEY: ADMIN_KEY };
  const processes = ['api', 'gateway', 'scheduler'].map((app) => runApp(app, variables));
  const [api, gateway] = await Promise.all(processes.map(urlOf));
  const http = new HttpClient(api as string);
  return {
    gatewayUrl: gateway as string,
    call: (method, path, body) => http.call(method, `/api/v1${path}`, { key: ADMIN_KEY, body }),
    async stop() {
      http.close();
      await Promise.all(processes.map((each) => each.stop()));
    },
  };
}

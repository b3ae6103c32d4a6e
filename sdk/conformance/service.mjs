// The service for scenarios: a standalone, by default with a clock that only the scenario advances.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../apps/standalone/dist/main.js', import.meta.url));
export const API_KEY = 'key-of-the-conformance-tests-of-yardmaster';
const PATIENCE_MS = 180_000;

/** Wait until a condition is true. @throws an error with the text if it never is */
export async function until(condition, what) {
  for (const end = Date.now() + PATIENCE_MS; ; await delay(15)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`never: ${what}`);
  }
}

/**
 * Start a service.
 *
 * @param clock `manual`, or `redis` for a clock that follows the time
 * @returns its `url`, `call(method, path, body)`, `advance(seconds)` and `stop()`
 */
export async function startService(clock = 'manual') {
  const dataDir = await mkdtemp(join(tmpdir(), 'yardmaster-conformance-'));
  const env = {
    ...{ PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir, CLOCK: clock, ADMIN_API_KEY: API_KEY },
    REDIS_TIMEOUT_SECONDS: '60', // The machine may be busy.
  };
  const child = spawn(process.execPath, [MAIN], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = new Promise((resolve) => child.on('close', resolve));
  const urlIn = () => /"url":"(.+?)".*"msg":"ready"/.exec(output)?.[1];
  await until(() => urlIn() ?? child.exitCode !== null, 'the service is ready');
  const url = urlIn();
  if (url === undefined) throw new Error(output);

  async function call(method, path, body) {
    const headers = { 'x-api-key': API_KEY, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    const json = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(json)}`);
    return json;
  }
  return {
    url,
    call: (method, path, body) => call(method, `/api/v1${path}`, body),
    advance: (advanceSeconds) => call('POST', '/test/clock', { advanceSeconds }),
    async stop() {
      child.kill();
      await ended;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

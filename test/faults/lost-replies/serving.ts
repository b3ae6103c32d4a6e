import { until } from '../../support/until.js';
import type { AppProcess } from '../app-process.js';
import type { Ground } from '../fault.js';
import { ask } from './asked.js';
import { LOSING } from './lost-reply.js';

/** Longer than a connection may take that has to be found out to be dead. */
const BACK_MS = 10_000;

/** Wait until the API that loses replies has both its connections again: readiness is told by one of them. */
export async function isServing(ground: Ground): Promise<void> {
  const { url } = ground.installation.apis[LOSING] as AppProcess;
  await isReady(url);
  await until(
    async () => (await ask(ground, LOSING, { method: 'GET', path: '/spaces/lost/stats' })).status === 200,
    BACK_MS,
  );
}

/** Wait until a process is ready. */
export async function isReady(url: string): Promise<void> {
  await until(async () => (await fetch(`${url}/readyz`)).status === 200, BACK_MS);
}

import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { during } from '../support/during.js';
import { createJob } from '../support/jobs.js';
import { startNginx } from '../support/nginx.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { startApi, untilWaiting } from '../waiting/api.js';

// Polls that wait behind nginx, as in docs/nginx.conf.

const api = during(
  () => startApi({ prefix: `t-${randomUUID().slice(0, 8)}` }),
  (started) => started.stop(),
);
const nginx = during(
  () => startNginx({ api: [new URL(api.url).host], gateway: [new URL(api.url).host] }),
  (started) => started.stop(),
);

/** Poll on a connection of its own. @returns how to close it, and the ids of the jobs of the response, null without one */
function pollAlone(spaceId: string) {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };
  const url = `${nginx.url}/api/v1/spaces/${spaceId}/jobs/poll`;
  const call = request(url, { method: 'POST', agent: false, headers });
  const ids = new Promise<string[] | null>((resolve) => {
    call.on('error', () => resolve(null));
    call.on('response', async (response) => {
      const chunks = await response.toArray().catch(() => null);
      resolve(chunks && JSON.parse(Buffer.concat(chunks).toString()).jobs.map(({ id }: { id: string }) => id));
    });
  });
  call.end(JSON.stringify({ waitSeconds: 20 }));
  return { ids, close: () => call.destroy() };
}

it('gives jobs only to polls whose connections to nginx are open, no matter when others closed', async () => {
  const polls = Array.from({ length: 40 }, () => pollAlone('left'));
  const [staying, leaving] = [polls.slice(0, 10), polls.slice(10)];
  // From before the request is sent until long after the poll waits.
  await Promise.all(
    leaving.map(async ({ close }, i) => {
      for (let turns = 0; turns < 20 * i; turns++) await turn();
      close();
    }),
  );
  expect((await fetch(`${nginx.url}/api/v1/info`)).status).toBe(200); // nginx has handled what came before.
  await untilWaiting(api, staying.length);
  const created: string[] = [];
  for (const _ of staying) created.push((await createJob(api, 'left')).id);
  const received = await Promise.all(staying.map(({ ids }) => ids));
  expect(received.flat().sort()).toEqual(created.sort());
  expect(await Promise.all(leaving.map(({ ids }) => ids))).toEqual(leaving.map(() => null));
  const { jobs } = (await api.call('GET', '/spaces/left/stats')).body;
  expect(jobs).toMatchObject({ pending: 0, delivered: staying.length });
});

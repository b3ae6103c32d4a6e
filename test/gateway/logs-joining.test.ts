import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { append, seqs, toldTo } from './logs.js';

const CLIENTS = 200;
const AT_ONCE = 10;
const WRITERS = 20;
/** Of each writer at least, and until every client has come. */
const BATCHES = 20;

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startService({ STREAMS_PER_ADDRESS: '1000', LOGS_PER_JOB: '1000000' });
  id = await jobIn(service, 'running', 'joining');
});
afterAll(() => service.stop());

/** A client, and how many entries it could read once it had its init. */
interface Joined {
  client: StreamClient;
  read: number;
}

async function join(): Promise<Joined> {
  const client = await StreamClient.open(service.url, `/${id}?token=${ADMIN_KEY}`);
  const { body } = await service.call('GET', `/jobs/${id}/logs?limit=1`);
  return { client, read: body.cursor.newestSeq };
}

/** Append from many sides until `isOver`, and once more after that; the seq of the last entry. */
async function write(isOver: () => boolean): Promise<number> {
  const writer = async (n: number) => {
    for (let batch = 0; batch < BATCHES || !isOver(); batch++) await append(service, id, 1 + ((n + batch) % 7));
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, n) => writer(n)));
  return (await append(service, id)).toSeq;
}

it(`tells ${CLIENTS} clients that join among ${WRITERS} writers of every later entry once and in order`, async () => {
  const joined: Joined[] = [];
  const writing = write(() => joined.length >= CLIENTS);
  let coming = 0;
  const lane = async () => {
    while (coming++ < CLIENTS) joined.push(await join());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const last = await writing;

  const firsts = new Set<number>();
  for (const { client, read } of joined) {
    await until(() => client.messages.at(-1)?.data?.toSeq === last);
    const told = toldTo(client);
    const [first] = told as [number];
    expect(told).toEqual(seqs(first, last));
    // What could be read after the init goes at least as far as to what was told: no entry is between them.
    expect(read).toBeGreaterThanOrEqual(first - 1);
    expect(new Set(client.types())).toEqual(new Set(['init', 'logs_appended']));
    firsts.add(first);
    await client.close();
  }
  // They did come at many different moments.
  expect(firsts.size).toBeGreaterThan(CLIENTS / 10);
}, 60_000);

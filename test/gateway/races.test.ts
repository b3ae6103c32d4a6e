import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { YardmasterError } from '@yardmaster/protocol';
import { redisNow } from '@yardmaster/store';
import { Redis } from 'ioredis';
import { appendEvents } from '../support/job-state.js';
import { jobIn, writeHistory } from '../support/jobs.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { type StreamClient, withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { delayCommand, delayReply, withInProcessGateway } from './gateway.js';
import { destroySockets, sendHandshake } from './handshake.js';
import { append, logSeqsOf, seqs, storedEntries } from './logs.js';

const { service, gateway } = withInProcessGateway();
const open = withStreams(gateway);

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'race');
});

const openJob = () => open(`/${id}?token=${ADMIN_KEY}`);
const openSpace = () => open(`/spaces/race?token=${ADMIN_KEY}`);
const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const historyKey = () => `${service.store.keys.job(id)}:events`;
const loseConnection = () => service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
const isSubscribed = () => gateway.context.subscriptions.isSubscribed(service.store.keys.jobChannel(id));
const shown = ({ messages }: StreamClient) => messages.map(({ type, status, data }) => [type, status, data]);
const appended = (fromSeq: number, toSeq: number, status = 'running') => [
  'logs_appended',
  status,
  { fromSeq, toSeq, count: toSeq - fromSeq + 1 },
];
const INIT = ['init', 'running', undefined];

it('closes a stream with a token for a tag when the job loses the tag before it is attached', async () => {
  const put = async (tags: string[]): Promise<string> => {
    const body = { name: 'work', tags, unique: { key: 'tagged', until: 'started', onConflict: 'replace' } };
    return (await service.call('POST', '/spaces/race/jobs', { body })).body.id;
  };
  const tagged = await put(['mine']);
  const { token } = (await service.call('POST', '/stream-tokens', { body: { scope: 'jobs:read', tag: 'mine' } })).body;
  delayReply(gateway.context.store.redis, 'evalsha', async () => {
    await put(['other']);
    await gateway.untilReceived();
  });
  const client = await open(`/${tagged}?token=${token}`);
  expect(await client.end()).toEqual({ code: 1008, reason: 'this stream is no longer allowed' });
  expect(client.types()).toEqual(['init']);
});

describe('while the snapshot of a job is read', () => {
  interface Row {
    what: string;
    act: () => Promise<unknown>;
    messages: unknown[][];
  }
  const event: Row = {
    what: 'an event',
    act: () => post('event', 'in between'),
    messages: [['event', 'running', 'in between']],
  };
  const logs: Row = { what: 'logs', act: () => append(service, id, 3), messages: [appended(3, 5)] };
  const end: Row = {
    what: 'the end',
    act: () => post('complete', { result: 'last' }),
    messages: [['completed', 'completed', 'last']],
  };
  const both = (one: Row, other: Row): Row => ({
    what: `${one.what} and ${other.what}`,
    act: async () => {
      await one.act();
      await other.act();
    },
    messages: [...one.messages, ...other.messages],
  });
  const ROWS = [event, logs, both(event, end), both(logs, end)];

  it.each(ROWS)(
    'sends $what from the time of a snapshot, even if no later event shows the gap',
    async ({ act, messages }) => {
      await append(service, id, 2);
      delayReply(gateway.context.store.redis, 'evalsha', async () => {
        await act();
        await gateway.untilReceived();
      });
      const client = await openJob();
      await until(() => client.messages.length > messages.length);
      expect(shown(client)).toEqual([INIT, ...messages]);
    },
  );

  it.each(ROWS)('sends $what from the time of a snapshot despite a lost connection', async ({ act, messages }) => {
    await append(service, id, 2);
    delayReply(gateway.context.store.redis, 'evalsha', async () => {
      await loseConnection();
      await act();
      await until(isSubscribed);
    });
    const client = await openJob();
    await until(() => client.messages.length > messages.length);
    expect(shown(client)).toEqual([INIT, ...messages]);
  });

  it('does not repeat an event of the snapshot whose message arrived after the subscription', async () => {
    delayCommand(gateway.context.store.redis, 'evalsha', async () => {
      await post('event', 'in the snapshot');
      await append(service, id, 3);
      await gateway.untilReceived();
    });
    const client = await openJob();
    await append(service, id, 1);
    await post('event', 'later');
    await client.next('event');
    expect(shown(client)).toEqual([INIT, appended(4, 4), ['event', 'running', 'later']]);
  });

  it('refuses a key with 401 if it is revoked while the snapshot is read', async () => {
    const { id: keyId, key } = await service.key(['jobs:read']);
    delayReply(gateway.context.store.redis, 'evalsha', async () => {
      await service.call('DELETE', `/keys/${keyId}`);
      await until(() => gateway.context.authenticator.isEnded({ keyId, rotation: 0 }));
    });
    const refused = await sendHandshake(gateway.url, `/api/v1/realtime/${id}?token=${key}`);
    expect(refused).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
    destroySockets();
  });
});

it('sends events that arrive before the init of a space stream after it', async () => {
  delayReply(gateway.context.store.redis, 'time', async () => {
    await post('event', 'in between');
    await gateway.untilReceived();
  });
  const client = await openSpace();
  expect(await client.next('event')).toMatchObject({ data: 'in between' });
  expect(client.types()).toEqual(['init', 'event']);
});

it('closes a space stream with 1012 when the connection is lost before its init', async () => {
  delayReply(gateway.context.store.redis, 'time', async () => {
    await loseConnection();
    await until(() => !gateway.context.subscriptions.isSubscribed(service.store.keys.spaceChannel('race')));
  });
  expect(await (await openSpace()).end()).toMatchObject({ code: 1012 });
});

describe('while missed events of a job are replayed', () => {
  /** Store an event and some log entries without messages. Then cause an event which shows that one is missing. */
  async function leaveGap(logs: number): Promise<void> {
    await writeHistory(service, id);
    await appendEvents(service.redis, service.store.keys.job(id), JSON.stringify(['event', Date.now(), 'missed']));
    await service.redis.rpush(`${service.store.keys.job(id)}:logs`, ...storedEntries(logs));
    await post('event', 'shows the gap');
  }
  const bulk = () => gateway.context.store.bulk;

  const WAYS_TO_DELAY: [when: string, delay: typeof delayReply][] = [
    ['after Redis has read the history', delayReply],
    ['before Redis reads the history', delayCommand],
  ];

  it.each(WAYS_TO_DELAY)('sends missed events and logs once when more arrive %s', async (_, delay) => {
    const client = await openJob();
    delay(bulk(), 'evalsha', async () => {
      await append(service, id, 2);
      await post('event', 'live');
      await append(service, id, 1);
      await gateway.untilReceived();
    });
    await leaveGap(2);
    await until(() => logSeqsOf(client).includes(5) && client.dataOf('event').length === 3);
    await append(service, id, 1);
    await until(() => logSeqsOf(client).includes(6));
    expect(logSeqsOf(client)).toEqual(seqs(1, 6));
    expect(client.dataOf('event')).toEqual(['missed', 'shows the gap', 'live']);
  });

  it.each(WAYS_TO_DELAY)(
    'sends missed logs before the end of their job when more logs and the end arrive %s',
    async (_, delay) => {
      const client = await openJob();
      delay(bulk(), 'evalsha', async () => {
        await append(service, id, 2);
        await post('complete', { result: 'last' });
        await gateway.untilReceived();
      });
      await leaveGap(3);
      await client.next('completed');
      expect(logSeqsOf(client)).toEqual(seqs(1, 5));
      expect(client.dataOf('event')).toEqual(['missed', 'shows the gap']);
      expect(client.types().at(-1)).toBe('completed');
    },
  );

  it('sends missed logs before the end of their job, even if more logs came after the end', async () => {
    const client = await openJob();
    delayCommand(bulk(), 'evalsha', async () => {
      await append(service, id, 2);
      await post('complete', { result: 'last' });
      const { updatedAt } = (await service.call('GET', `/jobs/${id}`)).body;
      await until(async () => (await redisNow(service.store)) > Date.parse(updatedAt));
      await append(service, id, 1);
      await gateway.untilReceived();
    });
    await leaveGap(2);
    await until(() => client.types().includes('completed') && logSeqsOf(client).includes(5));
    expect(logSeqsOf(client)).toEqual(seqs(1, 5));
    const before = client.messages.slice(0, client.types().indexOf('completed'));
    expect(before.findLast(({ type }) => type === 'logs_appended')?.data.toSeq).toBeGreaterThanOrEqual(4);
  });

  it('sends all logs when more messages arrive during a replay than the gateway keeps', async () => {
    const client = await openJob();
    delayReply(bulk(), 'evalsha', async () => {
      for (let n = 0; n < 300; n++) await append(service, id, 1);
      await gateway.untilReceived();
    });
    await leaveGap(2);
    await until(() => logSeqsOf(client).includes(302));
    expect(logSeqsOf(client)).toEqual(seqs(1, 302));
  });

  it('sends a client that connects during a replay only what it has missed', async () => {
    const first = await openJob();
    let second: StreamClient | undefined;
    delayReply(bulk(), 'evalsha', async () => {
      second = await openJob();
      await append(service, id, 1);
      await gateway.untilReceived();
    });
    await leaveGap(2);
    await until(() => second !== undefined && [first, second].every((client) => logSeqsOf(client).includes(3)));
    expect(logSeqsOf(first)).toEqual([1, 2, 3]);
    expect(first.dataOf('event')).toEqual(['missed', 'shows the gap']);
    expect(shown(second as StreamClient)).toEqual([INIT, appended(3, 3)]);
  });

  it('sends the logs before the end of the job to a client that connects during a replay', async () => {
    const first = await openJob();
    let isReading = false;
    let second: Promise<StreamClient> | null = null;
    // The read for the first client contains the end. The second client is attached when that read is over.
    delayReply(bulk(), 'evalsha', async () => {
      isReading = true;
      await second;
    });
    // The snapshot of the second client is from before the gap.
    delayReply(gateway.context.store.redis, 'evalsha', async () => {
      await leaveGap(2);
      await post('kill', { reason: 'enough' });
      await until(() => isReading);
    });
    second = openJob();
    for (const client of [first, await second]) {
      await client.next('killed');
      expect(client.types().filter((type) => type !== 'event')).toEqual(['init', 'logs_appended', 'killed']);
      expect(logSeqsOf(client)).toEqual([1, 2]);
    }
  });

  it('waits during a replay for a client that pauses reading, and sends it everything', async () => {
    const client = await openJob();
    client.ws.pause();
    await writeHistory(service, id);
    // This is more than the sockets take, and more than may wait in the process for a client that is always slow.
    const entries = Array.from({ length: 300 }, (_, n) =>
      JSON.stringify(['event', Date.now(), [n, 'x'.repeat(60_000)]]),
    );
    await appendEvents(service.redis, service.store.keys.job(id), ...entries);
    await post('event', [300]);
    const { registry } = gateway.context.metrics;
    const isWaiting = async () => /^yardmaster_stream_buffered_bytes [1-9]/m.test(await registry.metrics());
    await until(isWaiting);
    client.ws.resume();
    await until(() => client.closed !== null || client.dataOf('event').length > 300);
    expect(client.closed).toBeNull();
    expect(client.dataOf('event').map(([n]) => n)).toEqual(seqs(0, 300));
  });

  it('retries a replay when too many reads wait', async () => {
    const client = await openJob();
    const overloaded = new YardmasterError('OVERLOADED');
    const slots = jest.spyOn(gateway.context.store.slots, 'read');
    slots.mockRejectedValueOnce(overloaded).mockRejectedValueOnce(overloaded);
    await leaveGap(2);
    await until(() => logSeqsOf(client).includes(2) || client.closed !== null);
    expect(client.dataOf('event')).toEqual(['missed', 'shows the gap']);
    slots.mockRestore();
  });

  it('continues a replay of missed events when the connection is lost', async () => {
    const client = await openJob();
    delayReply(bulk(), 'evalsha', async () => {
      await loseConnection();
      await append(service, id, 2);
      await until(isSubscribed);
    });
    await leaveGap(2);
    await until(() => logSeqsOf(client).includes(4));
    expect(logSeqsOf(client)).toEqual(seqs(1, 4));
    expect(client.closed).toBeNull();
  });
});

it('closes a stream with 1012 when Redis lost a sent event, even if the next one precedes the confirmation', async () => {
  const client = await openJob();
  await post('event', 'shown');
  await client.next('event');
  const { subscribe } = Redis.prototype;
  const spy = jest.spyOn(Redis.prototype, 'subscribe').mockImplementation(async function (this: Redis, ...channels) {
    const confirmed = await subscribe.apply(this, channels);
    if (!channels.includes(service.store.keys.jobChannel(id))) return confirmed;
    await service.redis.pipeline().rpop(historyKey()).rpush(historyKey(), `["event",${Date.now()},"another"]`).exec();
    await post('event', 'next');
    await gateway.untilReceived();
    return confirmed;
  });
  await loseConnection();
  expect(await client.end()).toMatchObject({ code: 1012 });
  spy.mockRestore();
  expect(client.messages.map(({ data }) => data)).toEqual([undefined, 'shown']);
});

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import WebSocket from 'ws';
import { until } from '../support/until.js';

export interface Installation {
  /** Address of the API, without a path. */
  url: string;
  /** Address of the gateway. Default: `url`. */
  streamUrl?: string;
  /** The admin key. */
  key: string;
}

/** What clients have seen while something was done to an installation. */
export interface Seen {
  /** Calls that failed, by verb and status; each was sent again until it succeeded. */
  failed: Record<string, number>;
  failures: number;
  calls: number;
  /** Jobs that were confirmed and did not end, or not exactly once. */
  lost: number;
  doubled: number;
  /** How often the stream of the space was opened, and its close codes. */
  opened: number;
  closed: number[];
  /** Time of a call that does not wait, 99th percentile, milliseconds. */
  p99: number;
}

const CREATES_PER_SECOND = 20;
const WORKERS = 4;
/** Jobs that end before and after what is done. */
const JOBS_BEFORE = 20;
const JOBS_AFTER = 60;

/** Keep an installation busy with producers, workers and a stream, and do something to it in the middle. */
export async function underLoad(
  { url, streamUrl = url, key }: Installation,
  act: () => Promise<unknown>,
): Promise<Seen> {
  const space = `load-${randomUUID()}`;
  const failed: Record<string, number> = {};
  const latencies: number[] = [];
  const closed: number[] = [];
  const ended = new Map<string, number>();
  const created = new Set<string>();
  let calls = 0;
  let opened = 0;
  let isProducing = true;
  let isWorking = true;

  // biome-ignore lint/suspicious/noExplicitAny: any response of the API
  async function call(verb: string, path: string, body?: object, headers = {}): Promise<any> {
    for (;;) {
      const began = performance.now();
      const outcome = await send(path, body, headers);
      calls += 1;
      if (verb !== 'poll') latencies.push(performance.now() - began);
      if (typeof outcome !== 'string') return outcome;
      const kind = `${verb} ${outcome}`;
      failed[kind] = (failed[kind] ?? 0) + 1;
      if (outcome.startsWith('4')) return null; // Sent again it would fail again: another worker has the job.
      await sleep(250);
    }
  }

  /** @returns the body, or why the call has failed */
  async function send(path: string, body: object | undefined, headers: object): Promise<object | string> {
    try {
      const response = await fetch(`${url}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
        signal: AbortSignal.timeout(30_000),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return response.ok ? JSON.parse(text) : `${response.status}`;
    } catch (error) {
      const { cause, name } = error as Error & { cause?: { code?: string } };
      return cause?.code ?? name;
    }
  }

  async function produce(): Promise<void> {
    const pending: Promise<unknown>[] = [];
    while (isProducing) {
      const headers = { 'idempotency-key': randomUUID() };
      const body = { name: 'load', maxRetries: 3, timeoutSeconds: 30 };
      pending.push(call('create', `/spaces/${space}/jobs`, body, headers).then((job) => job && created.add(job.id)));
      await sleep(1_000 / CREATES_PER_SECOND);
    }
    await Promise.all(pending);
  }

  async function work(): Promise<void> {
    while (isWorking) {
      const polled = await call('poll', `/spaces/${space}/jobs/poll`, { waitSeconds: 2, maxJobs: 5 });
      for (const { id, deliveryToken } of polled?.jobs ?? []) {
        const token = { 'x-delivery-token': deliveryToken };
        if (!(await call('ack', `/jobs/${id}/ack`, {}, token))) continue;
        await call('progress', `/jobs/${id}/progress`, { percent: 50, message: 'half' }, token);
        if (await call('complete', `/jobs/${id}/complete`, {}, token)) ended.set(id, (ended.get(id) ?? 0) + 1);
      }
    }
  }

  async function watch(): Promise<void> {
    while (isWorking) {
      const socket = new WebSocket(`${streamUrl.replace('http', 'ws')}/api/v1/realtime/spaces/${space}?token=${key}`);
      const timer = setInterval(() => isWorking || socket.close(), 100);
      socket.on('open', () => (opened += 1));
      socket.on('error', () => undefined); // The event `close` follows.
      const code = await new Promise<number>((resolve) => socket.on('close', resolve));
      clearInterval(timer);
      if (isWorking) closed.push(code);
      await sleep(250);
    }
  }

  const producer = produce();
  const others = [...Array.from({ length: WORKERS }, work), watch()];
  try {
    await until(() => ended.size >= JOBS_BEFORE);
    await act();
    const endedThen = ended.size;
    await until(() => ended.size >= endedThen + JOBS_AFTER);
    isProducing = false;
    await producer;
    await until(() => [...created].every((id) => ended.has(id))).catch(() => undefined); // The result has the count.
  } finally {
    isProducing = false;
    isWorking = false;
  }
  await Promise.all(others);
  const { jobs } = await call('stats', `/spaces/${space}/stats`);
  latencies.sort((a, b) => a - b);
  const seen = {
    failed,
    failures: Object.values(failed).reduce((sum, count) => sum + count, 0),
    calls,
    lost: [...created].filter((id) => !ended.has(id)).length,
    doubled: [...ended.values()].filter((count) => count > 1).length + Math.max(0, jobs.completed - created.size),
    opened,
    closed,
    p99: Math.round(latencies[Math.floor(latencies.length * 0.99)] as number),
  };
  process.stdout.write(`${expect.getState().currentTestName ?? ''}: ${JSON.stringify(seen)}\n`);
  return seen;
}

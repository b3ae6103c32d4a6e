import { randomBytes } from 'node:crypto';
import {
  answer,
  type Behaviour,
  dripping,
  endConnection,
  endless,
  hang,
  raw,
  rawThenHang,
  rawThenReset,
  reset,
} from '../../support/behaviours.js';
import { freePort } from '../../support/free-port.js';
import { type Receiver, startListener, startReceiver } from '../../support/receiver.js';
import type { History } from '../history.js';
import { NOBODY } from '../rules/callbacks.js';
import { writeReceived } from './receivers.js';

const OK = 'HTTP/1.1 200 OK\r\n';

/** What receivers do that mean no good, or cannot help it, to each request. */
const HTTP: Record<string, Behaviour> = {
  hang,
  reset,
  'end-at-once': endConnection,
  'reset-in-headers': rawThenReset(`${OK}content-ty`),
  'hang-in-headers': rawThenHang(`${OK}content-ty`),
  'drip-headers': dripping(`${OK}x-drip: `, 'x'),
  'drip-body': dripping(`${OK}\r\n`, 'x'),
  'endless-headers': endless(OK, 'x-more: and more\r\n'),
  'endless-body': endless(`${OK}\r\n`, 'more '),
  'endless-hints': endless('', 'HTTP/1.1 100 Continue\r\n\r\n'),
  'huge-header': raw(`${OK}x-huge: ${'x'.repeat(1_000_000)}\r\n\r\n`),
  'no-http': raw('220 mail.example.com ESMTP\r\n'),
  unauthorized: answer(401),
  gone: answer(410),
  'too-many': answer(429, { 'retry-after': '2' }),
};

export interface Hostile {
  /** Where a job may be sent that wants to be called back; each kind by turns. */
  next(): string;
  /** Requests that came because a receiver sent us there. */
  redirected(): number;
  /** Write down all that has come, and be gone. */
  stop(history: History): Promise<void>;
}

/** Start receivers of every kind. They share a port, so the line to it is full of those who hang. */
export async function startHostile(): Promise<Hostile> {
  const receiver = await startReceiver();
  const elsewhere: Receiver = await startReceiver();
  const garbage = await startListener((socket) => socket.write(randomBytes(4_096)));
  const closed = await freePort();
  const moved = answer(302, { location: elsewhere.script('/elsewhere', answer(204)) });
  const kinds = Object.entries({ ...HTTP, redirect: moved });
  const urls: ((n: number) => string)[] = [
    ...kinds.map(
      ([kind, behaviour]) =>
        (n: number) =>
          receiver.script(`/${kind}/${n}`, behaviour),
    ),
    (n) => `https://127.0.0.1:${garbage.port}${NOBODY}${n}`,
    (n) => `http://127.0.0.1:${closed}${NOBODY}${n}`,
  ];
  const paths: string[] = [];
  let turn = 0;
  return {
    next() {
      const url = (urls[turn % urls.length] as (n: number) => string)(turn);
      turn++;
      paths.push(new URL(url).pathname);
      return url;
    },
    redirected: () => elsewhere.connections(),
    async stop(history) {
      for (const path of paths) for (const request of receiver.requestsTo(path)) writeReceived(history, request);
      await Promise.all([receiver, elsewhere, garbage].map((each) => each.close()));
    },
  };
}

import { type Behaviour, endless, hang, reset, respondWith } from '../../test/support/behaviours.js';
import { type Received, startReceiver } from '../../test/support/receiver.js';
import type { History } from '../checker/history.js';
import { HANGS } from '../rules/callbacks.js';
import type { Receiving } from './plan.js';

const OK = respondWith(204);
const slowly: Behaviour = (response, socket) => setTimeout(() => OK(response, socket), 700);
const ENDLESS = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n';

/** Behaviors for the requests of one job, in order. The last one also applies to all later requests. */
const BEHAVIOURS: Record<Receiving, Behaviour[]> = {
  responds: [OK],
  'fails first': [respondWith(503), OK],
  'fails twice': [respondWith(503), respondWith(503), OK],
  'resets first': [reset, OK],
  'hangs first': [hang, OK],
  'is slow': [slowly],
  'never stops': [endless(ENDLESS, 'more and more ')],
  'returns 410': [respondWith(410)],
  'returns 500': [respondWith(500)],
};

/** Start callback receivers, some of which fail. */
export async function startReceivers() {
  const receiver = await startReceiver();
  const paths = new Set<string>();
  return {
    /** Return the callback URL of a job. */
    urlFor(n: number, receiving: Receiving = 'responds'): string {
      const path = `${receiving === 'hangs first' ? HANGS : '/'}job/${n}`;
      paths.add(path);
      return receiver.script(path, ...BEHAVIOURS[receiving]);
    },
    /** Add all received callbacks to the history. */
    record(history: History): void {
      for (const path of paths) for (const request of receiver.requestsTo(path)) writeReceived(history, request);
    },
    close: () => receiver.close(),
  };
}

/** Add a received callback to the history. */
export function writeReceived(history: History, { body, headers, at }: Received): void {
  const sent = JSON.parse(body.toString());
  const id = headers.find(([name]) => name.toLowerCase() === 'webhook-id')?.[1] ?? null;
  history.add({ kind: 'callback', jobId: sent.jobId, id, body: sent, at });
}

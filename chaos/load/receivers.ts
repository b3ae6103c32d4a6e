import { answer, type Behaviour, endless, hang, reset } from '../../test/support/behaviours.js';
import { type Received, startReceiver } from '../../test/support/receiver.js';
import type { History } from '../checker/history.js';
import { HANGS } from '../rules/callbacks.js';
import type { Receiving } from './plan.js';

const OK = answer(204);
const slowly: Behaviour = (response, socket) => setTimeout(() => OK(response, socket), 700);
const POURS = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n';

/** The behaviours that the requests for one job meet, in this order; the last is that of all further requests. */
const BEHAVIOURS: Record<Receiving, Behaviour[]> = {
  answers: [OK],
  'fails first': [answer(503), OK],
  'resets first': [reset, OK],
  'hangs first': [hang, OK],
  'is slow': [slowly],
  pours: [endless(POURS, 'more and more ')],
  'is gone': [answer(410)],
  'is down': [answer(500)],
};

/** Start receivers of callbacks, some of which fail. */
export async function startReceivers() {
  const receiver = await startReceiver();
  const paths = new Set<string>();
  return {
    /** The callback URL of a job. */
    urlFor(n: number, receiving: Receiving = 'answers'): string {
      const path = `${receiving === 'hangs first' ? HANGS : '/'}job/${n}`;
      paths.add(path);
      return receiver.script(path, ...BEHAVIOURS[receiving]);
    },
    /** Write down all that has come. */
    record(history: History): void {
      for (const path of paths) for (const request of receiver.requestsTo(path)) writeReceived(history, request);
    },
    close: () => receiver.close(),
  };
}

/** Write down a callback as it came. */
export function writeReceived(history: History, { body, headers, at }: Received): void {
  const sent = JSON.parse(body.toString());
  const id = headers.find(([name]) => name.toLowerCase() === 'webhook-id')?.[1] ?? null;
  history.add({ kind: 'callback', jobId: sent.jobId, id, body: sent, at });
}

import { answer, type Behaviour, endless, hang, reset } from '../../support/behaviours.js';
import { type Received, type Receiver, startReceiver } from '../../support/receiver.js';
import type { History } from '../history.js';
import { HANGS } from '../rules/callbacks.js';
import type { JobPlan, Receiving } from './plan.js';

const OK = answer(204);
const slowly: Behaviour = (response, socket) => setTimeout(() => OK(response, socket), 700);
const POURS = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n';

/** What the requests for one job meet, one after the other; the last holds for all that follow. */
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

/** Where callbacks go to, some of it hostile. */
export interface Receivers {
  /** The URL for a job. */
  urlOf(plan: JobPlan): string | null;
  /** The URL for a job that has no plan; its callbacks are taken unless told. */
  urlFor(n: number, receiving?: Receiving): string;
  /** Write down all that has come. */
  record(history: History): void;
  close(): Promise<void>;
}

const pathOf = (n: number, receiving: Receiving) => `${receiving === 'hangs first' ? HANGS : '/'}job/${n}`;

export async function startReceivers(): Promise<Receivers> {
  const receiver: Receiver = await startReceiver();
  const paths = new Set<string>();
  const urlFor = (n: number, receiving: Receiving = 'answers') => {
    const path = pathOf(n, receiving);
    paths.add(path);
    return receiver.script(path, ...BEHAVIOURS[receiving]);
  };
  return {
    urlOf: ({ n, receiving }) => (receiving === null ? null : urlFor(n, receiving)),
    urlFor,
    record(history) {
      for (const path of paths) for (const request of receiver.requestsTo(path)) writeReceived(history, request);
    },
    close: () => receiver.close(),
  };
}

/** Write down a callback as it came. */
export function writeReceived(history: History, { body, headers, at }: Received): void {
  const told = JSON.parse(body.toString());
  const id = headers.find(([name]) => name.toLowerCase() === 'webhook-id')?.[1] ?? null;
  history.add({ kind: 'callback', jobId: told.jobId, id, body: told, at });
}

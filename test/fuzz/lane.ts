import { Connection, type Exchange } from './connection.js';
import type { FuzzRequest } from './request.js';
import type { FuzzedService } from './service.js';
import { judged, prepare, type Trial, type Verdict } from './trial.js';

function inPieces(bytes: Buffer, count: number): Buffer[] {
  const step = Math.ceil(bytes.length / count);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * step, (i + 1) * step));
}

/** A refused body is read to its end, up to some megabytes; then the service hangs up. */
const ALWAYS_READ_BYTES = 12 * 1_048_576;

/** One who sends requests, one after the other, on a connection that is kept as long as it can be. */
export class Lane {
  #connection: Connection | null = null;

  constructor(readonly service: FuzzedService) {}

  /** Send requests in one go, and judge what comes. */
  async send(requests: FuzzRequest[]): Promise<Verdict[]> {
    const trials = await Promise.all(requests.map((request) => prepare(this.service, request)));
    const exchange = await this.#exchange(trials);
    return Promise.all(trials.map((trial, n) => judged(this.service, trial, exchange, n)));
  }

  async #exchange(trials: Trial[]): Promise<Exchange> {
    const requests = trials.map(({ request }) => request);
    // What is not whole has a connection to itself, whose end tells the service that no more will come.
    const isWhole = requests.every(({ framing }) => framing.is === 'whole');
    if (!isWhole || this.#connection?.isOpen === false) await this.close();
    this.#connection ??= new Connection(this.service.port);
    const bytes = Buffer.concat(trials.map(({ raw }) => raw));
    const exchange = await this.#connection.exchange({
      pieces: inPieces(bytes, Math.max(...requests.map(({ pieces }) => pieces))),
      methods: requests.map(({ method }) => method),
      end: !isWhole,
    });
    if (!isWhole || exchange.isEnded || exchange.isHung || bytes.length > ALWAYS_READ_BYTES) await this.close();
    return exchange;
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    this.#connection = null;
  }
}

import { CLOSE_CODES } from '@yardmaster/protocol';
import type { Metrics } from '@yardmaster/server';
import { Counter, Gauge } from 'prom-client';
import { type Form, VISIBILITIES } from './messages.js';

/** Fields of a session that the metrics read. */
interface OpenStream {
  form: Form;
  waitingBytes: number;
}

/** Counters that sessions increment. */
export interface StreamMetrics {
  /** Messages sent since startup. A plain number, because it changes more often than anything else here. */
  sent: number;
  /** Count a stream that has ended, by the code with which the gateway or the client closed it. */
  closed(code: number): void;
}

/** Codes of the gateway and of RFC 6455. Other codes of clients count as `other`, to limit label cardinality. */
const KNOWN_CODES = new Set<number>([...Object.values(CLOSE_CODES), 1002, 1003, 1005, 1006, 1007, 1010, 1011]);

export function createStreamMetrics({ registry }: Metrics, sessions: () => Iterable<OpenStream>): StreamMetrics {
  const registers = [registry];
  new Gauge({
    name: 'yardmaster_streams_open',
    help: 'Open streams, by what they show: a job (full), its progress, or a space.',
    labelNames: ['audience'],
    registers,
    collect() {
      for (const visibility of VISIBILITIES) this.set({ audience: visibility }, 0);
      for (const { form } of sessions()) this.inc({ audience: form.visibility });
    },
  });
  new Gauge({
    name: 'yardmaster_stream_buffered_bytes',
    help: 'Bytes buffered for stream clients to read.',
    registers,
    collect() {
      let bytes = 0;
      for (const { waitingBytes } of sessions()) bytes += waitingBytes;
      this.set(bytes);
    },
  });
  const closes = new Counter({
    name: 'yardmaster_stream_closes_total',
    help: 'Streams that ended, by close code. 1006: no close frame, other: a code that only the client uses.',
    labelNames: ['code'],
    registers,
  });
  for (const code of Object.values(CLOSE_CODES)) closes.inc({ code }, 0);
  const metrics: StreamMetrics = {
    sent: 0,
    closed: (code) => closes.inc({ code: KNOWN_CODES.has(code) ? code : 'other' }),
  };
  new Counter({
    name: 'yardmaster_stream_messages_sent_total',
    help: 'Messages sent on streams.',
    registers,
    collect() {
      this.reset();
      this.inc(metrics.sent);
    },
  });
  return metrics;
}

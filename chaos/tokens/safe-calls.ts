import type { Call, Operation } from '../checker/history.js';
import { deliveriesOf, type Events } from '../rules/attempts.js';
import { isEffect, TRACES } from '../rules/effects.js';

/** A call that is safe to send again. */
export interface Row {
  /** Return the events that the call has caused. */
  effects(job: Events, call: Call): Events['events'];
}

/** Find effects by the text in the body. */
const byText = ({ events }: Events, call: Call) => {
  const trace = TRACES[call.op];
  return events.filter((event) => trace !== undefined && isEffect(trace, event, call));
};

/** Find effects of an ack by the delivery that it names. */
const byDelivery = (job: Events, { token }: Call) => {
  const { from = 0, until = 0 } = deliveriesOf(job).find((one) => one.token === token) ?? {};
  return job.events.filter(({ type }, i) => type === 'acked' && i > from && i < until);
};

/** Every call that is safe to send again. Its script has the same name. */
export const ROWS: Partial<Record<Operation, Row>> = {
  create: { effects: ({ events }) => events.filter(({ type }) => type === 'created') },
  ack: { effects: byDelivery },
  complete: { effects: byText },
  fail: { effects: byText },
  release: { effects: byText },
  kill: { effects: byText },
};

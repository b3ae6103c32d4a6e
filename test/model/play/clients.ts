import type { Random } from '../../support/random.js';
import type { Call } from './calls.js';
import type { CallResult } from './candidates.js';
import { drawCall, drawInput, drawSweep, drawTime, MANY } from './draw.js';
import type { Drawing } from './draw-calls.js';
import { claimedIn } from './outcome.js';
import type { Step } from './step.js';
import { WORKER_CALLS, type WorkerCall, type WorkerVerb } from './worker-calls.js';

// The clients of a sequence. Each knows only the responses that it got, and makes one call at a time. A request or a reply may
// be lost. The client then sends the same call again, perhaps much later, or gives it up.

interface Client {
  /** The call that has no response. */
  unanswered: Call | null;
  draw(drawing: Drawing): Call;
  /** Take the response to its call. */
  hear(result: CallResult): void;
}

/** A client that forgets each call. @param draw its next call */
const forgetful = (draw: Client['draw']): Client => ({ unanswered: null, draw, hear: () => undefined });

/** A producer: most of its creates have an idempotency key. */
const newProducer = () =>
  forgetful((drawing) => {
    if (drawing.world.jobs.size >= MANY && drawing.random.chance(0.7)) return drawCall(drawing);
    return drawInput(drawing.random.weighted({ createKeyed: 6, createMany: 2, create: 2 }), drawing);
  });

const newScheduler = () =>
  forgetful(
    (drawing) =>
      drawSweep(drawing) ?? drawInput(drawing.random.weighted({ expire: 3, promote: 3, tend: 1, relay: 1 }), drawing),
  );

/** An operator, or any other client, with a call about any job. */
const newOther = () => forgetful((drawing) => drawCall(drawing));

/** A worker that reports on the jobs that it was given, perhaps long after it has lost them. */
function newWorker(): Client {
  const held = new Map<string, { token: string; isRunning: boolean }>();
  return {
    unanswered: null,
    draw(drawing) {
      const { random, issued, isTimed } = drawing;
      if (random.chance(0.02)) held.clear(); // It has crashed.
      if (held.size === 0 || random.chance(0.3)) return drawInput(random.chance(0.8) ? 'poll' : 'claim', drawing);
      const [id, { token, isRunning }] = random.of([...held]);
      const verb: WorkerVerb = isRunning
        ? random.weighted({ heartbeat: 4, complete: 4, fail: 3, release: 1, ack: 1 })
        : random.weighted({ ack: 9, release: 1 });
      return {
        ...{ verb, job: issued.labelOf(id), caller: null, token },
        ...(WORKER_CALLS[verb] as WorkerCall<object>).draw(random, isTimed),
      } as Call;
    },
    hear({ call, response }) {
      if (!('value' in response)) {
        if ('job' in call) held.delete(call.job);
        return;
      }
      for (const { id, deliveryToken } of claimedIn(call, response.value))
        held.set(id, { token: deliveryToken, isRunning: false });
      if (call.verb === 'complete' || call.verb === 'fail' || call.verb === 'release') held.delete(call.job);
      const acked = call.verb === 'ack' ? held.get(call.job) : undefined;
      if (acked) acked.isRunning = true;
    },
  };
}

/** All clients of a sequence. */
export class Clients {
  private readonly clients: readonly Client[];
  /** Who made the call of the last step. */
  private caller: Client | null = null;

  constructor(random: Random) {
    this.clients = [
      ...[newProducer(), newProducer()],
      ...[newWorker(), newWorker(), newWorker()],
      ...[newScheduler(), newScheduler()],
      ...Array.from({ length: random.of([1, 5, 20]) }, newOther),
    ];
  }

  /** Draw the next step: the call of some client, or time that passes, or a restart. @param results of the last step */
  next(drawing: Drawing, [result]: readonly CallResult[]): Step {
    const { random } = drawing;
    if (this.caller && result && random.chance(0.9)) {
      this.caller.unanswered = null;
      this.caller.hear(result);
    }
    this.caller = null;
    const time = drawTime(drawing);
    if (time) return time;
    if (random.chance(0.006)) return { restart: random.weighted({ process: 8, scripts: 4, redis: 1 }) };
    for (;;) {
      const client = random.of(this.clients);
      const call = callOf(client, drawing);
      client.unanswered = call;
      if (random.chance(0.05)) continue; // The request is lost.
      this.caller = client;
      return { calls: [call] };
    }
  }
}

function callOf({ unanswered, draw }: Client, drawing: Drawing): Call {
  if (unanswered === null || drawing.random.chance(0.3)) return draw(drawing);
  return 'label' in unanswered ? { ...unanswered, label: `j${drawing.at}` } : unanswered;
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../fault.js';
import { MALFORMED } from '../load/malformed.js';
import { sendRaw } from '../load/raw-request.js';
import { watchMemory } from '../memory.js';

/** A sentence and a code, whoever refuses it: our routes, the body's reader, the parser of HTTP. */
const SENTENCE = /^\{"error":"[^"]{10}.*"code":"[A-Z_]+"/;

const SENDERS = 4;
const PAUSE_MS = 30;

/** One that waits for no more than what was sent. */
const WITHIN_MS = 10_000;

/** An API has some 120 MB under load; bodies under way come on top. */
const MOST_MB = 400;

export const faults: Fault[] = [
  {
    id: 'F22',
    title: `${SENDERS} clients send malformed requests`,
    promises: ['P13'],
    stops: [],
    lastsMs: 10_000,
    async inject({ installation: { apis }, random, found, figures }) {
      const memory = watchMemory(apis);
      const kinds = Object.entries(MALFORMED);
      let isOver = false;
      let sent = 0;
      async function send(): Promise<void> {
        while (!isOver) {
          const api = random.of(apis);
          const [kind, head] = kinds[sent++ % kinds.length] as [string, Buffer];
          const { status, text, isClosed } = await sendRaw(api.url, { head, withinMs: WITHIN_MS });
          if (status === null || status < 400 || status > 499)
            found({ jobId: null, says: `${kind} was answered ${status}, ${isClosed ? '' : 'not '}closed` });
          else if (!SENTENCE.test(text)) found({ jobId: null, says: `${kind} was told ${text.slice(0, 200)}` });
          await delay(PAUSE_MS);
        }
      }
      const sending = Promise.all(Array.from({ length: SENDERS }, send));
      return async () => {
        isOver = true;
        await sending;
        memory.stop();
        Object.assign(figures, { 'malformed requests': sent, 'API MB': memory.mostMb });
        if (memory.mostMb > MOST_MB) found({ jobId: null, says: `an API held ${memory.mostMb} MB` });
      };
    },
  },
];

import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../fault.js';
import { unanswered } from '../measures.js';

const EVERY_MS = 100;

export const faults: Fault[] = [
  {
    id: 'F18',
    title: `all scripts are flushed every ${EVERY_MS} ms`,
    promises: ['P3', 'P13'],
    stops: [],
    lastsMs: 8_000,
    async inject({ installation: { connection }, figures }) {
      let isOver = false;
      let flushes = 0;
      const flushing = (async () => {
        for (; !isOver; flushes++) {
          await connection.script('FLUSH');
          await delay(EVERY_MS);
        }
      })();
      return async () => {
        isOver = true;
        await flushing;
        figures.flushes = flushes;
      };
    },
    expect: unanswered,
  },
];

import { expect, it } from '@jest/globals';
import { type HistoryEvent, stretchesOf } from '../../apps/ui/src/screens/job/attempts.js';

/** Make a history with an event each second. */
const history = (...types: HistoryEvent['type'][]): HistoryEvent[] =>
  types.map((type, second) => ({ type, data: null, createdAt: at(second) }));

const at = (second: number) => `2026-01-31T09:30:0${second}.000Z`;

/** Show a stretch as `running 2: 3–5 completed`. */
const shown = (events: HistoryEvent[]) =>
  stretchesOf(events).map(
    ({ kind, attempt, from, to, end }) => `${kind} ${attempt}: ${from.slice(18, 19)}–${to?.slice(18, 19) ?? ''} ${end}`,
  );

it('divides a job into its waits, deliveries and attempts', () => {
  expect(
    shown(history('created', 'delivered', 'acked', 'retried', 'delivered', 'acked', 'progress', 'completed')),
  ).toEqual([
    'waiting 0: 0–1 delivered',
    'delivered 0: 1–2 acked',
    'running 1: 2–3 retried',
    'waiting 0: 3–4 delivered',
    'delivered 0: 4–5 acked',
    'running 2: 5–7 completed',
  ]);
});

it('leaves the last stretch of a running job open', () => {
  expect(shown(history('created', 'delivered', 'acked'))).toEqual([
    'waiting 0: 0–1 delivered',
    'delivered 0: 1–2 acked',
    'running 1: 2– null',
  ]);
});

it('shows no attempt for a delivery that was never acked', () => {
  expect(shown(history('created', 'delivered', 'delivery_timeout'))).toEqual([
    'waiting 0: 0–1 delivered',
    'delivered 0: 1–2 delivery_timeout',
    'waiting 0: 2– null',
  ]);
});

it('counts attempts from 1 after a requeue, and omits the time before it', () => {
  const events = history('created', 'delivered', 'acked', 'dead', 'callback_failed', 'requeued', 'delivered', 'acked');
  expect(shown(events).slice(2)).toEqual([
    'running 1: 2–3 dead',
    'waiting 0: 5–6 delivered',
    'delivered 0: 6–7 acked',
    'running 1: 7– null',
  ]);
});

it('marks reports and checkpoints on their attempt', () => {
  const events = history('created', 'delivered', 'acked', 'progress', 'checkpoint', 'completed');
  expect(stretchesOf(events).map(({ ticks }) => ticks)).toEqual([
    [],
    [],
    [
      { type: 'progress', at: at(3) },
      { type: 'checkpoint', at: at(4) },
    ],
  ]);
});

it('gives a released attempt back', () => {
  expect(shown(history('created', 'delivered', 'acked', 'released', 'delivered', 'acked')).slice(2)).toEqual([
    'running 1: 2–3 released',
    'waiting 0: 3–4 delivered',
    'delivered 0: 4–5 acked',
    'running 1: 5– null',
  ]);
});

it('shows an attempt whose ack is no longer in the history', () => {
  expect(shown(history('created', 'progress', 'progress', 'completed'))).toEqual([
    'waiting 0: 0–1 acked',
    'running 1: 1–3 completed',
  ]);
});

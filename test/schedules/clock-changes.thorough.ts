import { expect, it } from '@jest/globals';
import { nextTime, type Timing } from '@yardmaster/protocol';
import { DateTime } from 'luxon';

// The times around each clock change of six zones, by a library that knows nothing of cron: it says what the clock on the wall
// shows in each minute.

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Africa/Cairo',
];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const [FROM, UNTIL] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2028-01-01T00:00:00Z')];

/** Find the clock changes of a zone: the first minute with another offset. */
function changesOf(zone: string): number[] {
  const offset = (at: number) => DateTime.fromMillis(at, { zone }).offset;
  const changes: number[] = [];
  for (let at = FROM; at < UNTIL; at += HOUR) {
    if (offset(at) === offset(at + HOUR)) continue;
    let minute = at;
    while (offset(minute) === offset(at)) minute += MINUTE;
    changes.push(minute);
  }
  return changes;
}

interface Expression {
  minutes: number[];
  hours: number[];
}
const range = (from: number, below: number, step = 1) =>
  Array.from({ length: Math.ceil((below - from) / step) }, (_, i) => from + i * step);
const FIXED: Expression[] = [0, 1, 2, 3, 23].flatMap((hour) =>
  [0, 15, 30, 59].map((minute) => ({ minutes: [minute], hours: [hour] })),
);
const REPEATED: Expression[] = [
  { minutes: range(0, 60, 20), hours: range(0, 24) },
  { minutes: [0, 30], hours: [1, 2] },
  { minutes: [5], hours: range(0, 24, 2) },
  { minutes: range(0, 60), hours: [0] },
];

/** A minute: when it begins, what the clock shows, and what it skips right before. */
interface Minute {
  at: number;
  shown: DateTime;
  skipped: DateTime[];
}

/** List the minutes from one moment until another. The clock's time is written as if it were UTC. */
function minutesOf(zone: string, from: number, until: number): Minute[] {
  const shownAt = (at: number) => DateTime.fromMillis(at, { zone }).setZone('UTC', { keepLocalTime: true });
  return range(from, until, MINUTE).map((at) => {
    const [before, shown] = [shownAt(at - MINUTE), shownAt(at)];
    const gap = Math.max(0, (shown.toMillis() - before.toMillis()) / MINUTE - 1);
    return { at, shown, skipped: range(1, gap + 1).map((n) => before.plus({ minutes: n })) };
  });
}

/** Return the times of an expression among some minutes. */
function expected({ minutes, hours }: Expression, among: Minute[]): number[] {
  const matches = ({ minute, hour }: DateTime) => minutes.includes(minute) && hours.includes(hour);
  if (minutes.length > 1 || hours.length > 1) return among.filter(({ shown }) => matches(shown)).map(({ at }) => at);
  // A fixed time runs once a day: the first time that the clock shows it, or at the first minute after a gap that skips it.
  const days = new Map<string, number>();
  for (const { at, shown, skipped } of among) {
    const day = [...skipped, shown].find(matches)?.toISODate();
    if (day && !days.has(day)) days.set(day, at);
  }
  return [...days.values()];
}

const timing = ({ minutes, hours }: Expression, timezone: string): Timing => ({
  ...{ cron: `${minutes.join()} ${hours.join()} * * *`, everySeconds: null, timezone },
  ...{ startsAt: null, endsAt: null, createdAt: 0 },
});

it.each(ZONES)('each clock change in %s runs fixed times once and others in real time', (zone) => {
  const changes = changesOf(zone);
  expect(changes.length).toBeGreaterThanOrEqual(4);
  for (const change of changes) {
    // Start after a whole day before the change, so that a fixed time of that day is not seen as the first one.
    const [from, until] = [change - 26 * HOUR, change + 26 * HOUR];
    const among = minutesOf(zone, from, until);
    for (const expression of [...FIXED, ...REPEATED]) {
      const found: number[] = [];
      const of = timing(expression, zone);
      for (let at = nextTime(of, from - 1); at !== null && at < until; at = nextTime(of, at)) found.push(at);
      const iso = (all: number[]) => all.map((at) => new Date(at).toISOString());
      expect({ change, cron: of.cron, times: iso(found) }).toEqual({
        ...{ change, cron: of.cron },
        times: iso(expected(expression, among)),
      });
    }
  }
});

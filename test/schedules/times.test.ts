import { describe, expect, it } from '@jest/globals';
import { countTimes, isTimezone, nextTime, previousTime, type Timing } from '@yardmaster/protocol';

const timing = (fields: Partial<Timing>): Timing => ({
  ...{ cron: null, everySeconds: null, timezone: 'UTC', startsAt: null, endsAt: null },
  createdAt: Date.parse('2026-01-01T00:00:00.250Z'),
  ...fields,
});

/** List the times of a schedule after a moment, as ISO 8601 without seconds. */
function times(fields: Partial<Timing>, after: string, most: number): string[] {
  const found: string[] = [];
  let at: number | null = Date.parse(after);
  while (found.length < most) {
    at = nextTime(timing(fields), at);
    if (at === null) break;
    found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

it.each<[what: string, cron: string, expected: string[]]>([
  ['a list, a range and a step', '0,30 8-9 * * 1-5', ['2026-01-02T08:00Z', '2026-01-02T08:30Z', '2026-01-02T09:00Z']],
  [
    'either of both restricted day fields',
    '0 0 13 * fri',
    ['2026-01-09T00:00Z', '2026-01-13T00:00Z', '2026-01-16T00:00Z'],
  ],
  [
    'a step as a restriction of days',
    '0 0 */10 * mon',
    ['2026-01-05T00:00Z', '2026-01-11T00:00Z', '2026-01-12T00:00Z'],
  ],
  ['Sunday as 0 and 7', '0 0 * * 0,7', ['2026-01-04T00:00Z', '2026-01-11T00:00Z', '2026-01-18T00:00Z']],
  ['a leap day', '0 12 29 2 *', ['2028-02-29T12:00Z', '2032-02-29T12:00Z', '2036-02-29T12:00Z']],
  ['@weekly', '@weekly', ['2026-01-04T00:00Z', '2026-01-11T00:00Z', '2026-01-18T00:00Z']],
])('a cron expression with %s has the expected times', (_, cron, expected) => {
  expect(times({ cron }, '2026-01-02T00:00:00Z', 3)).toEqual(expected);
});

describe('when clocks change in Berlin', () => {
  const timezone = 'Europe/Berlin';
  const [spring, autumn] = ['2026-03-29', '2026-10-25'];

  it.each<[what: string, cron: string, day: string, expected: string[]]>([
    ['runs a fixed time in the gap right after it', '30 2 * * *', spring, ['01:00']],
    ['runs a fixed time in the repeated hour the first time', '30 2 * * *', autumn, ['00:30']],
    ['runs nothing in the gap by a step', '*/30 2 * * *', spring, []],
    ['runs both repeated hours by a step', '*/30 2 * * *', autumn, ['00:00', '00:30', '01:00', '01:30']],
    ['runs each hour once in real time', '0 1-3 * * *', autumn, ['23:00', '00:00', '01:00', '02:00']],
  ])('a schedule %s', (_, cron, day, expected) => {
    const midnight = Date.parse(`${day}T00:00:00+0${day === spring ? 1 : 2}:00`);
    const found = times({ cron, timezone }, new Date(midnight - 1).toISOString(), 10);
    const ofDay = found.filter((at) => Date.parse(at) < midnight + 24 * 3_600_000);
    expect(ofDay.map((at) => at.slice(11, 16))).toEqual(expected);
  });
});

it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])('%s is a time zone', (name) => {
  expect(isTimezone(name)).toBe(true);
});

it.each([
  ['from its creation', {}, ['2026-01-01T00:01:30.250Z', '2026-01-01T00:03:00.250Z']],
  ['from a start that is ahead', { startsAt: '2026-01-01T00:00:30Z' }, ['2026-01-01T00:00:30Z', '2026-01-01T00:02Z']],
  ['from a start that has passed', { startsAt: '2025-12-31T23:59:30Z' }, ['2026-01-01T00:01Z', '2026-01-01T00:02:30Z']],
  ['until its end', { endsAt: '2026-01-01T00:02Z' }, ['2026-01-01T00:01:30.250Z']],
])('an interval counts %s', (_, { startsAt, endsAt }: { startsAt?: string; endsAt?: string }, expected) => {
  const at = (text?: string) => (text === undefined ? null : Date.parse(text));
  const found = times({ everySeconds: 90, startsAt: at(startsAt), endsAt: at(endsAt) }, '2026-01-01T00:00:00.250Z', 2);
  expect(found.map(Date.parse)).toEqual(expected.map((text) => Date.parse(text)));
});

it('the time before the next one is the previous one, within the limits of the schedule', () => {
  for (const fields of [{ cron: '*/7 3 * * *', timezone: 'Europe/Berlin' }, { everySeconds: 61.5 }]) {
    const of = timing({
      ...fields,
      startsAt: Date.parse('2026-03-27T00:00:00Z'),
      endsAt: Date.parse('2026-03-31T00:00:00Z'),
    });
    let at = nextTime(of, 0);
    expect(previousTime(of, at as number)).toBeNull();
    for (let n = 0; n < 50; n++) {
      const next = nextTime(of, at as number);
      if (next === null) break;
      expect(previousTime(of, next)).toBe(at);
      at = next;
    }
    expect(previousTime(of, Number.MAX_SAFE_INTEGER / 2)).toBe(previousTime(of, (of.endsAt as number) + 1));
  }
});

it('counts all missed times of an interval, and up to 100 of a cron expression', () => {
  const [first, last] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2026-01-02T00:00:00Z')];
  expect(countTimes(timing({ everySeconds: 60 }), first, last)).toBe(1_440);
  expect(countTimes(timing({ cron: '0 * * * *' }), first, last)).toBe(24);
  expect(countTimes(timing({ cron: '* * * * *' }), first, last)).toBe(100);
});

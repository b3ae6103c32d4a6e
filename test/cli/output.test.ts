import { Readable } from 'node:stream';
import { stripVTControlCharacters as uncoloured } from 'node:util';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  barOf,
  clip,
  clockOf,
  InvalidLine,
  type JobView,
  jobDisplay,
  linesOf,
  printable,
  printableJson,
  Region,
  readMessage,
  readReportLine,
  screenOf,
  unseen,
  viewAfter,
  widthOf,
} from '@yardmaster/cli';
import type { Context } from '@yardmaster/sdk';

const size = { columns: 60, rows: 24, elapsedSeconds: 67.4, lost: null };
const view: JobView = {
  jobId: '4ck0job',
  jobName: 'resize',
  status: 'running',
  progress: {
    percent: 47.5,
    message: 'Resizing',
    subProgress: { decode: { percent: 100 }, 'scale 日本': { percent: 25, message: 'first pass' } },
  },
  scheduledFor: null,
};
const drawn = (job: JobView, options = {}) => screenOf(job, { ...size, ...options }).map(uncoloured);

it('draws name, status, time and a bar of a job, and a bar for each stage', () => {
  expect(drawn(view)).toEqual([
    'resize  4ck0job  running  1:07',
    '█████████░░░░░░░░░░░  47% Resizing',
    '  decode      ██████████ 100%',
    '  scale 日本  ██░░░░░░░░  25% first pass',
  ]);
});

it('colors parts of a drawn job, and resets each color', () => {
  expect(screenOf({ ...view, progress: null }, size)).toEqual([
    '\u001b[1mresize\u001b[0m  4ck0job  \u001b[36mrunning\u001b[0m  \u001b[2m1:07\u001b[0m',
    `\u001b[36m${'░'.repeat(20)}\u001b[0m\u001b[2m no progress yet\u001b[0m`,
  ]);
});

it('draws when a scheduled job is due, with the date unless it is today', () => {
  const untilOf = (at: Date) =>
    drawn({ ...view, status: 'scheduled', progress: null, scheduledFor: at.toISOString() })[1];
  const today = new Date();
  today.setHours(23, 59, 58, 500);
  expect(untilOf(today)).toBe(`${'░'.repeat(20)} until 23:59:58`);
  expect(untilOf(new Date(2096, 1, 29, 7, 5, 9))).toBe(`${'░'.repeat(20)} until 2096-02-29 07:05:09`);
});

it('omits unknown fields of a job from the drawing', () => {
  expect(drawn(unseen('4ck0job'))).toEqual(['4ck0job  1:07', `${'░'.repeat(20)} no progress yet`]);
});

it('draws a full bar once the job is completed, whatever its worker last reported', () => {
  expect(drawn({ ...view, status: 'completed' })[1]).toBe(`${'█'.repeat(20)} 100% Resizing`);
  expect(drawn({ ...view, status: 'completed', progress: null })[1]).toBe(`${'█'.repeat(20)} 100%`);
});

it('draws that the connection is lost', () => {
  expect(drawn(view, { lost: 'connection lost' }).at(-1)).toBe('connection lost');
});

it.each([1, 5, 20, 37, 60, 200])('draws no line of a job that is wider than %i columns', (columns) => {
  const long = 'ñ日👩‍👩‍👧'.repeat(100);
  const stages = { [long]: { percent: 3, message: long } };
  const wide: JobView = { ...view, jobName: long, progress: { percent: 3, message: long, subProgress: stages } };
  for (const line of drawn(wide, { columns, lost: long })) expect(widthOf(line)).toBeLessThanOrEqual(columns);
});

it.each([1, 2, 3, 4, 5, 10])(
  'reserves one of %i rows for the cursor, and counts the stages that do not fit',
  (rows) => {
    const subProgress = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`stage ${i}`, { percent: i }]));
    const lines = drawn({ ...view, progress: { percent: 1, message: 'Many', subProgress } }, { rows, lost: 'lost' });
    expect(lines.length).toBe(Math.max(1, rows - 1));
    if (rows < 10) return;
    expect(lines.slice(-3)).toEqual(['  stage 4  ░░░░░░░░░░   4%', '  … and 45 more stages', 'lost']);
  },
);

it('draws a full bar at 100% only', () => {
  const bars = [0, 5, 99.99, 100].map((percent) => barOf(percent, 5));
  expect(bars.join(' ')).toBe('░░░░░ ░░░░░ ████░ █████');
});

it('draws a time in seconds, minutes and hours', () => {
  const times = [0, 59.9, 60, 3_599, 3_600, 36_061].map(clockOf);
  expect(times.join(' ')).toBe('0:00 0:59 1:00 59:59 1:00:00 10:01:01');
});

describe('viewAfter', () => {
  const known = (...messages: object[]) =>
    messages.reduce<JobView>((view, message) => {
      const read = readMessage({ jobId: 'j', ...message });
      return read ? viewAfter(view, read) : view;
    }, unseen('j'));
  const progress = { percent: 5, message: 'Begun' };

  it('viewAfter adopts the fields of each message', () => {
    expect(known({ type: 'init', status: 'pending' })).toEqual({ ...unseen('j'), status: 'pending' });
    expect(known({ type: 'init', progress })).toEqual({ ...unseen('j'), progress });
    const running = { jobName: 'resize', status: 'running' };
    expect(known({ type: 'acked', ...running }, { type: 'progress', ...running, data: progress })).toEqual({
      ...unseen('j'),
      ...running,
      progress,
    });
  });

  it('viewAfter starts each attempt without progress', () => {
    const retried = { type: 'retried', jobName: 'resize', status: 'pending', data: { error: 'x', attemptNumber: 1 } };
    expect(known({ type: 'init', progress }, retried)).toMatchObject({ status: 'pending', progress: null });
  });

  it('viewAfter keeps the scheduled time of a job until the job is pending', () => {
    const scheduledFor = '2096-02-29T12:00:00.000Z';
    const retried = { type: 'retried', status: 'scheduled', data: { error: 'x', attemptNumber: 1, scheduledFor } };
    expect(known({ type: 'init', status: 'scheduled' })).toMatchObject({ status: 'scheduled', scheduledFor: null });
    expect(known(retried)).toMatchObject({ status: 'scheduled', scheduledFor });
    const logs = { type: 'logs_appended', status: 'scheduled', data: { fromSeq: 1, toSeq: 1, count: 1 } };
    expect(known(retried, logs)).toMatchObject({ status: 'scheduled', scheduledFor });
    expect(known(retried, { type: 'ready', status: 'pending' })).toMatchObject({
      status: 'pending',
      scheduledFor: null,
    });
  });

  it('viewAfter sets the status after a completion without a status', () => {
    expect(known({ type: 'init', progress }, { type: 'completed' })).toMatchObject({ status: 'completed', progress });
  });
});

it('a region redraws its last lines in single writes, below lines that scroll away', () => {
  const writes: string[] = [];
  const terminal = { columns: 10, rows: 5, write: (text: string) => writes.push(text) };
  const region = new Region(terminal);
  region.draw(['one', 'two']);
  region.draw(['three'], ['event']);
  terminal.columns = 3;
  region.draw(['x']);
  expect(writes).toEqual([
    '\u001b[?7l\r\u001b[2Kone\n\r\u001b[2Ktwo\n\u001b[J\u001b[?7h',
    '\u001b[?7l\u001b[2A\r\u001b[2Kevent\n\r\u001b[2Kthree\n\u001b[J\u001b[?7h',
    // `three` takes two rows of a terminal that has become narrower.
    '\u001b[?7l\u001b[2A\r\u001b[2Kx\n\u001b[J\u001b[?7h',
  ]);
});

describe('jobDisplay', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function display() {
    const writes: string[] = [];
    const terminal = { columns: 40, rows: 10, write: (text: string) => writes.push(uncoloured(text)) };
    const job = jobDisplay(terminal, '4ck0job');
    const show = (message: object) => {
      const raw = { jobId: '4ck0job', timestamp: 'noon', ...message };
      job.show(readMessage(raw) as NonNullable<ReturnType<typeof readMessage>>, JSON.stringify(raw));
    };
    return { writes, job, show };
  }

  it('the job display draws many progress reports once per interval, and the last one at the end', () => {
    const { writes, job, show } = display();
    for (let percent = 0; percent < 100; percent++) show({ type: 'progress', data: { percent, message: 'Busy' } });
    jest.advanceTimersByTime(100);
    expect(writes).toHaveLength(1);
    show({ type: 'completed', status: 'completed', jobName: 'resize', data: { bytes: 5 } });
    job.close();
    expect(writes).toHaveLength(2);
    expect(writes[1]?.split('\n').map((line) => line.trim())).toEqual([
      'noon completed     {"bytes":5}',
      'resize  4ck0job  completed  0:00',
      '█████████████ 100% Busy',
      '',
    ]);
  });

  it('the job display updates the time while nothing happens, and shows a lost connection until it is restored', () => {
    const { writes, job, show } = display();
    jest.advanceTimersByTime(5_000);
    expect(writes).toEqual([]);
    show({ type: 'init', status: 'pending' });
    jest.advanceTimersByTime(3_500);
    expect(writes.at(-1)).toContain('pending  0:08');
    job.notice('connection lost');
    jest.advanceTimersByTime(100);
    expect(writes.at(-1)).toContain('connection lost');
    show({ type: 'init', status: 'running' });
    jest.advanceTimersByTime(100);
    expect(writes.at(-1)).not.toContain('connection lost');
    job.close();
  });

  it('the job display prints a warning as a line above the drawing', () => {
    const { writes, job, show } = display();
    job.warn('some events are lost');
    show({ type: 'init', status: 'running' });
    job.close();
    expect(writes.at(-1)?.split('\n')[0]).toMatch(/some events are lost$/);
  });

  it('the job display draws nothing for a job without a message', () => {
    const { writes, job } = display();
    job.close();
    expect(writes).toEqual([]);
  });
});

it.each([
  ['colors', '\u001b[1;31mred\u001b[0m', 'red'],
  ['a cleared screen', 'a\u001b[2J\u001b[Hb', 'ab'],
  ['CSI in one character', 'a\u009b2Jb', 'ab'],
  ['a window title', 'a\u001b]0;owned\u0007b', 'ab'],
  ['a link', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
  ['the clipboard', 'a\u001b]52;c;cm0gLXJm\u009cb', 'ab'],
  ['a device string', 'a\u001bP1$q\u001b\\b', 'ab'],
  ['a reset', 'a\u001bcb', 'ab'],
  ['a sequence without an end', 'a\u001b[31', 'a\ufffd[31'],
  ['a title without an end', 'a\u001b]0;b', 'a\ufffd]0;b'],
  ['a sequence within a sequence', '\u001b\u001b[31m[31mred', '\ufffd[31mred'],
  ['line ends', 'a\r\nb\u0085c\u2028d\te', 'a b c d e'],
  ['backspaces and bells', 'a\b\u0007\u0000\u007fb', 'a\ufffd\ufffd\ufffd\ufffdb'],
  ['turned direction', 'a\u202egnp.exe\u202c \u2066x\u2069\u200f', 'agnp.exe x'],
  ['half a character', 'a\ud800b', 'a\ufffdb'],
  ['marks in a pile', `a${'\u0301'.repeat(500)}b`, `a${'\u0301'.repeat(8)}b`],
])('printable makes a text with %s safe to print', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
});

it('printable keeps words and emoji of all languages unchanged', () => {
  const text = 'Größe 日本語 हिन्दी עברית 👩‍👩‍👧 é';
  expect(printable(text)).toBe(text);
});

it('printable removes every control character, in any order', () => {
  const alphabet = ['\u001b', '[', ']', 'P', '\u009b', '\u009d', '\u0007', '\\', 'm', '0', ';', '\n', '\u202e', 'a'];
  let seed = 1;
  const next = () => {
    seed = (seed * 48271) % 2147483647;
    return seed % alphabet.length;
  };
  for (let i = 0; i < 5_000; i++) {
    const text = Array.from({ length: 12 }, () => alphabet[next()]).join('');
    expect(printable(text)).not.toMatch(/\p{Cc}|\u202e/u);
  }
});

it.each(['\u001b]', '\u009d', '\u001b[', '\u001bP0', 'a\u0301', '\n'])(
  'printable takes time linear in the length of a text of %j',
  (piece) => {
    // A search that runs to the end of the text from each of its characters would take minutes.
    const run = () => printable(piece.repeat(500_000)).length;
    expect(runInNewContext('run()', { run }, { timeout: 25_000 })).toBeGreaterThan(0);
  },
);

it('printableJson writes JSON on one line with the same value', () => {
  const value = { '\u009b': ['a\nb\u2028', '\u007f\u202e', '\u{e0041}', '日本 👩‍👩‍👧'] };
  const line = printableJson(JSON.stringify(value, null, 2));
  expect(JSON.parse(line)).toEqual(value);
  expect(line).not.toMatch(/[\p{Cc}\p{Zl}\u202e]/u);
  expect(line).toContain('日本 👩‍👩‍👧');
});

it.each([
  ['leaves what fits', 'abcde', 5, 'abcde'],
  ['cuts what does not fit', 'abcdef', 5, 'abcd…'],
  ['counts wide characters twice', '日本語', 5, '日本…'],
  ['shows no half of a wide character', '日本語', 4, '日…'],
  ['cuts no emoji of several characters', 'ab👩‍👩‍👧', 3, 'ab…'],
  ['leaves nothing where there is no room', 'abc', 0, ''],
])('the function clip %s', (_, text, columns, clipped) => {
  expect(clip(text, columns)).toBe(clipped);
  expect(widthOf(clipped)).toBeLessThanOrEqual(columns);
});

describe('readMessage', () => {
  const evil = 'x\u001b[2J\u009b\n\u202e';
  const textsOf = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    if (value === null || typeof value !== 'object') return [];
    return Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)]);
  };

  it.each(['init', 'progress', 'completed', 'retried', 'dead', 'killed', 'checkpoint', 'logs_appended', evil])(
    'readMessage makes every text of a message of type %j printable',
    (type) => {
      const progress = { percent: 1, message: evil, subProgress: { [evil]: { percent: 1, message: evil } } };
      const data = type === 'progress' ? progress : { error: evil, reason: evil, attemptNumber: evil, count: evil };
      const text = { jobId: evil, jobName: evil, spaceId: evil, status: evil, timestamp: evil };
      const message = readMessage({ ...text, type, data, ...(type === 'init' ? { progress } : {}) });
      expect(textsOf(message).join('')).not.toMatch(/[\p{Cc}\u202e]/u);
    },
  );

  it.each([null, [], {}, { type: 1 }, 'init'])('readMessage returns null for %j', (raw) => {
    expect(readMessage(raw)).toBeNull();
  });

  it('readMessage shows an unknown type with its data', () => {
    expect(readMessage(JSON.parse('{"type":"paused","data":{"by":"x"}}'))).toMatchObject({
      type: 'paused',
      detail: '{"by":"x"}',
    });
  });

  it('readMessage shows the data of a progress message that it cannot read as progress', () => {
    expect(readMessage(JSON.parse('{"type":"progress","data":{"percent":"x"}}'))).toMatchObject({
      progress: null,
      detail: '{"percent":"x"}',
    });
  });
});

/** Return the call of a context that a report line makes. */
function callOf(line: string): unknown[] {
  const calls: unknown[][] = [];
  const record =
    (name: string | symbol) =>
    (...args: unknown[]) =>
      void calls.push([name, ...args]);
  const log = new Proxy({}, { get: (_, level) => record(`log ${String(level)}`) });
  const context = { progress: record('progress'), save: record('save'), event: record('event'), log };
  readReportLine(line)(context as unknown as Context);
  return calls.flat();
}

it.each([
  ['progress 40 Resizing', ['progress', 40, 'Resizing', undefined]],
  ['progress 40%  Resizing  a.png', ['progress', 40, 'Resizing  a.png', undefined]],
  ['progress 12.5', ['progress', 12.5, '12.5%', undefined]],
  ['  progress\t100\tdone', ['progress', 100, 'done', undefined]],
  ['progress {"percent":1,"message":"x"}', ['progress', 1, 'x', undefined]],
  ['checkpoint {"page": 7}', ['save', { page: 7 }]],
  ['event null', ['event', null]],
  ['log warning low', ['log warn', 'low']],
  ['log info', ['log info', '']],
  [`log info ${'x'.repeat(5_000)}`, ['log info', 'x'.repeat(4_000)]],
])('reads the report line "%s"', (line, call) => {
  expect(callOf(line)).toEqual(call);
});

it.each([
  ['progress', 'percent must be a number'],
  ['progress -1 x', 'percent must be a number'],
  ['progress 101 x', 'percent must be between 0 and 100'],
  ['progress {"percent":1}', 'message is required'],
  ['checkpoint', 'the text after the first word must be JSON'],
  ['event {', 'the text after the first word must be JSON'],
  ['log', 'level must be one of'],
  ['log low on memory', 'level must be one of'],
  ['toString 1', 'it must start with progress, checkpoint, event, log'],
])('refuses the report line "%s"', (line, reason) => {
  expect(() => readReportLine(line)).toThrow(InvalidLine);
  expect(() => readReportLine(line)).toThrow(reason);
});

describe('lines of a stream', () => {
  const long = 'x'.repeat(300_000);
  it.each([
    ['without ends', ['a\nb\r\n\nc'], ['a', 'b', '', 'c']],
    ['over several chunks', ['a', 'b\nc', '\n'], ['ab', 'c']],
    ['with a character over two chunks', [Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])], ['é']],
    ['null for each that is too long', [long, `${long}\nb\n`, `${long}\n`, 'c\n', long], [null, 'b', null, 'c', null]],
  ])('linesOf reads the lines of a stream %s', async (_, chunks, expected) => {
    const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk as string)));
    const lines: (string | null)[] = [];
    for await (const line of linesOf(stream)) lines.push(line && String(line));
    expect(lines).toEqual(expected);
  });
});

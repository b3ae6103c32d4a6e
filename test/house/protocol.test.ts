import { describe, expect, it } from '@jest/globals';
import {
  fullMessage,
  isTerminal,
  progressMessage,
  STATUSES,
  STREAM_TYPES,
  spaceMessage,
  streamMessage,
  streamMessageSchema,
  TRANSITIONS,
} from '@yardmaster/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

it.each(STATUSES)('%s is terminal exactly when only a requeue leads to another status', (status) => {
  const leaves = TRANSITIONS.some(
    ({ trigger, from, to }) => trigger !== 'requeue' && from.includes(status) && to !== status,
  );
  expect(isTerminal(status)).toBe(!leaves);
});

describe('the schemas of stream messages', () => {
  const typesOf = ({ options }: { options: readonly { shape: { type: { value: string } } }[] }) =>
    options.map(({ shape }) => shape.type.value).sort();
  const types = Object.keys(STREAM_TYPES);
  const inProgressScope = Object.entries(STREAM_TYPES).flatMap(([type, how]) => (how === 'withheld' ? [] : [type]));

  it('the schemas of stream messages have exactly one option for each type that the stream sends', () => {
    expect(typesOf(fullMessage)).toEqual(['init', ...types].sort());
    expect(typesOf(progressMessage)).toEqual(['init', ...inProgressScope].sort());
    expect(typesOf(spaceMessage)).toEqual(['init', 'counts', 'created', ...types].sort());
  });

  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const isMessage = ajv.compile(streamMessageSchema());
  const dead = {
    jobId: '36o7twzxdv24fxfunb5lk3gei7b2',
    jobName: 'resize',
    type: 'dead',
    status: 'dead',
    data: { error: 'disk full' },
    timestamp: '2026-01-31T09:30:00.766Z',
  };

  it('the schemas of stream messages accept fields that a later release adds', () => {
    const message = { ...dead, workerId: 7 };
    expect(streamMessage.parse(message)).toEqual(dead);
    expect(isMessage(message)).toBe(true);
  });

  it.each([
    ['an unknown type', { ...dead, type: 'paused' }],
    ['the type created without a space', { ...dead, type: 'created', data: null }],
    ['an unknown status', { ...dead, status: 'paused' }],
    ['the data of another type', { ...dead, data: { reason: 'stop' } }],
    ['data where there is none', { ...dead, type: 'acked', data: {} }],
    ['a percentage above 100', { ...dead, type: 'progress', data: { percent: 101, message: 'x' } }],
    ['a negative seq', { ...dead, type: 'logs_appended', data: { fromSeq: -1, toSeq: 1, count: 3 } }],
    ['a timestamp without milliseconds', { ...dead, timestamp: '2026-01-31T09:30:00Z' }],
    ['no job', { ...dead, jobId: undefined }],
    ['no name of the job', { ...dead, jobName: undefined }],
  ])('the schemas of stream messages refuse %s', (_, message) => {
    expect(streamMessage.safeParse(message).success).toBe(false);
    expect(isMessage(JSON.parse(JSON.stringify(message)))).toBe(false);
  });
});

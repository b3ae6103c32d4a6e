import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Behaviour, dripping, endless, raw, rawThenHang, rawThenReset } from '../support/behaviours.js';
import { attemptsTo, failed, historyOf, ofEach, sent } from '../support/callbacks.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// What follows from an answer that is not quite what HTTP says (contract §7).

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ CALLBACK_RETRY_DELAYS: '0.05' });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

const OK = 'HTTP/1.1 200 OK\r\n';
const EARLY = 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';

interface Row {
  what: string;
  behaviour: Behaviour;
}

/** Each request meets the same behaviour; each attempt is one POST, and no connection stays. */
async function expectOf({ what, behaviour }: Row, attempts: ReturnType<typeof sent>[]) {
  const path = `/${encodeURIComponent(what)}`;
  const url = receiver.script(path, behaviour);
  expect(await attemptsTo(service, url)).toEqual(historyOf(url, attempts));
  expect(receiver.requestsTo(path)).toHaveLength(attempts.length);
  await until(() => receiver.open() === 0);
}

describe('an answer that is not valid HTTP', () => {
  const NO_HTTP = expect.stringMatching(/^answer is not valid HTTP \(HPE_[A-Z_]+\)$/);
  const ROWS: Row[] = [
    { what: 'for it is garbage', behaviour: raw('garbage\r\n\r\n') },
    { what: 'for it is HTML', behaviour: raw('<!doctype html><title>Hello</title>') },
    { what: 'for it is binary', behaviour: raw('\x00\x01\x02\xff\xfe') },
    { what: 'for it is SSH', behaviour: raw('SSH-2.0-OpenSSH_9.6\r\n') },
    { what: 'for its status is no number', behaviour: raw('HTTP/1.1 2x0 OK\r\n\r\n') },
    { what: 'for a header has no name', behaviour: raw(`${OK}: x\r\n\r\n`) },
    { what: 'for a header has a NUL', behaviour: raw(`${OK}a: \x00\r\n\r\n`) },
    { what: 'for its length is no number', behaviour: raw(`${OK}content-length: many\r\n\r\n`) },
    { what: 'for it has two lengths', behaviour: raw(`${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`) },
    { what: 'for its headers are endless', behaviour: endless(OK, 'x-a: 0123456789\r\n') },
    { what: 'for one header is endless', behaviour: endless(`${OK}x-a: `, 'b') },
    { what: 'for its headers are of 10 MB', behaviour: raw(`${OK}x-a: ${'b'.repeat(10_000_000)}\r\n\r\n`) },
    { what: 'for it is only announced, endlessly', behaviour: endless('', EARLY) },
    { what: 'for it is only announced, slowly', behaviour: dripping('', EARLY) },
    { what: 'for its status line is endless', behaviour: endless('HTTP/1.1 200 ', 'OK') },
  ];

  it.each(ROWS)('$what is retried', async (row) => {
    await expectOf(
      row,
      ofEach(2, (attempt, willRetry) => failed(NO_HTTP, attempt, willRetry)),
    );
  });
});

describe('an answer whose status has come', () => {
  const ROWS: Row[] = [
    { what: 'counts with an endless body', behaviour: endless(`${OK}\r\n`, 'x') },
    {
      what: 'counts with an endless chunked body',
      behaviour: endless(`${OK}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n'),
    },
    {
      what: 'counts with one endless chunk',
      behaviour: endless(`${OK}transfer-encoding: chunked\r\n\r\nfffffffff\r\n`, 'x'),
    },
    { what: 'counts with a body that stalls', behaviour: rawThenHang(`${OK}content-length: 100\r\n\r\nabc`) },
    { what: 'counts with a body that never begins', behaviour: rawThenHang(`${OK}content-length: 100\r\n\r\n`) },
    { what: 'counts with a body that is cut', behaviour: raw(`${OK}content-length: 100\r\n\r\nabc`) },
    { what: 'counts with a body that is reset', behaviour: rawThenReset(`${OK}content-length: 100\r\n\r\nabc`) },
    { what: 'counts with a broken chunk', behaviour: raw(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`) },
    {
      what: 'counts with what is not gzip',
      behaviour: raw(`${OK}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`),
    },
    { what: 'counts with a megabyte', behaviour: (response) => response.end('x'.repeat(1_000_000)) },
    { what: 'counts with 15 KB of headers', behaviour: raw(`${OK}x-a: ${'b'.repeat(15_000)}\r\n\r\n`) },
    { what: 'counts in HTTP/1.0', behaviour: raw('HTTP/1.0 200 OK\r\n\r\nabc') },
    { what: 'counts after 103', behaviour: raw(`${EARLY}${OK}\r\n`) },
    { what: 'counts after several 103', behaviour: raw(`${EARLY.repeat(5)}${OK}\r\n`) },
    {
      what: 'counts after 100 and 102',
      behaviour: raw(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\n\r\n${OK}\r\n`),
    },
    {
      what: 'counts with a second answer behind it',
      behaviour: raw(`${OK}content-length: 0\r\n\r\nHTTP/1.1 500 No\r\n\r\n`),
    },
  ];

  it.each(ROWS)('$what', async (row) => {
    await expectOf(row, [sent(200)]);
  });

  it.each([
    ['that stays open', rawThenHang(SWITCH)],
    ['that is closed', raw(SWITCH)],
  ])('counts when it is a change of the protocol that nobody asked for, over a connection %s', async (_, behaviour) => {
    await expectOf({ what: `101 ${_}`, behaviour }, [sent(101)]);
  });

  it('has no more of its body read than a little', async () => {
    let written = () => Number.POSITIVE_INFINITY;
    const behaviour: Behaviour = (response, socket) => {
      written = () => socket.bytesWritten;
      endless(`${OK}\r\n`, 'x')(response, socket);
    };
    await expectOf({ what: 'measured', behaviour }, [sent(200)]);
    // What the buffers of two sockets hold, on any system, is beyond what is read, and far below what is sent in a second.
    expect(written()).toBeLessThan(32_000_000);
  });

  it('counts as a failure with an endless body too', async () => {
    const behaviour = endless('HTTP/1.1 500 No\r\n\r\n', 'x');
    await expectOf({ what: 'endless 500', behaviour }, [sent(500, 1, true), sent(500, 2)]);
  });
});

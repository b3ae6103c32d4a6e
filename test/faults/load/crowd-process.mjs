// A process of its own that opens streams and tells what becomes of them: thousands of sockets are too many for that of the test.
//   node crowd-process.mjs <how many at once>       urls in on stdin, one a line; a line of JSON out each second, and at the end of stdin
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

const AT_ONCE = Number(process.argv[2]);

const told = { asked: 0, open: 0, refused: 0, messages: 0, ends: {}, codes: {} };
const waiting = [];
const sockets = new Set();
let opening = 0;

function openNext() {
  while (opening < AT_ONCE && waiting.length > 0) open(waiting.shift());
}

function open(url) {
  opening++;
  let isOpen = false;
  const ws = new WebSocket(url, { perMessageDeflate: false });
  const settle = () => {
    opening--;
    setImmediate(openNext);
  };
  ws.on('open', () => {
    isOpen = true;
    told.open++;
    sockets.add(ws);
    settle();
  });
  ws.on('message', (data) => {
    told.messages++;
    const { type } = JSON.parse(data.toString());
    if (type === 'completed') told.ends[type] = (told.ends[type] ?? 0) + 1;
  });
  ws.on('error', () => undefined); // `close` follows.
  ws.on('close', (code) => {
    if (!isOpen) {
      told.refused++;
      return settle();
    }
    told.open--;
    sockets.delete(ws);
    told.codes[code] = (told.codes[code] ?? 0) + 1;
  });
}

const tell = () => process.stdout.write(`${JSON.stringify(told)}\n`);
const timer = setInterval(tell, 500);

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line === 'close') {
      for (const ws of sockets) ws.close();
      return;
    }
    told.asked++;
    waiting.push(line);
    openNext();
  })
  .on('close', () => {
    clearInterval(timer);
    for (const ws of sockets) ws.terminate();
  });

// Open thousands of streams, which are too many for the process of a run. Reads URLs, one per line, or `close` from stdin, and
// prints its counts twice a second.
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

const AT_ONCE = 50; // Concurrent handshakes.

const seen = { open: 0, refused: 0, completed: 0, codes: {} };
const waiting = [];
const sockets = new Set();
let opening = 0;

function openNext() {
  while (opening < AT_ONCE && waiting.length > 0) open(waiting.shift());
}

function open(url) {
  opening++;
  const ws = new WebSocket(url, { perMessageDeflate: false });
  const settle = () => {
    opening--;
    setImmediate(openNext);
  };
  ws.on('open', () => {
    seen.open++;
    sockets.add(ws);
    settle();
  });
  ws.on('message', (data) => {
    if (JSON.parse(data.toString()).type === 'completed') seen.completed++;
  });
  ws.on('error', () => undefined); // `close` follows.
  ws.on('close', (code) => {
    if (!sockets.delete(ws)) {
      seen.refused++;
      return settle();
    }
    seen.open--;
    seen.codes[code] = (seen.codes[code] ?? 0) + 1;
  });
}

setInterval(() => process.stdout.write(`${JSON.stringify(seen)}\n`), 500);
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'close') {
    for (const ws of sockets) ws.close();
    return;
  }
  waiting.push(line);
  openNext();
});

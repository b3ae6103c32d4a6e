// A worker with many WebSocket clients that need little CPU: they count frames and parse some of them.
import net from 'node:net';
import { now, serve } from './worker.mjs';

const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Create counts of all sockets. `seen`: times of parsed messages, and how long they took to arrive, in ms. */
const nothing = () => ({ frames: 0, lastAt: 0, seen: [] });
let tally = nothing();
let parseEvery = 1;

/** Find the first frame in bytes from a server, which does not mask frames; null if it is incomplete. */
function firstFrame(data) {
  if (data.length < 2) return null;
  const short = data[1] & 127;
  const start = { 126: 4, 127: 10 }[short] ?? 2;
  if (data.length < start) return null;
  const length = { 126: () => data.readUInt16BE(2), 127: () => Number(data.readBigUInt64BE(2)) }[short]?.() ?? short;
  return data.length < start + length ? null : { isText: (data[0] & 15) === 1, start, end: start + length };
}

/** Create a reader of a server's frames, which calls back with the payload of each text frame. */
function frameReader(onText) {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    let data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (let frame = firstFrame(data); frame !== null; frame = firstFrame(data)) {
      if (frame.isText) onText(data.subarray(frame.start, frame.end));
      data = data.subarray(frame.end);
    }
    rest = data;
  };
}

/** Count a message. The `message` of a progress report, or `sentAt` in the data of an event, is when it was sent. */
function onText(payload) {
  const at = now();
  tally.frames++;
  tally.lastAt = at;
  if (tally.frames % parseEvery !== 0) return;
  const { data } = JSON.parse(payload.toString());
  const sentAt = Number(data?.sentAt ?? data?.message);
  if (sentAt > 0) tally.seen.push([sentAt, at - sentAt]);
}

const SWITCHING_PROTOCOLS = 101;

function open(url, path) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(url.port), url.hostname);
    const timer = setTimeout(() => reject(new Error('no handshake')), HANDSHAKE_TIMEOUT_MS);
    let head = '';
    socket.on('error', reject);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    const read = frameReader(onText);
    const onHead = (chunk) => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      clearTimeout(timer);
      socket.off('data', onHead);
      if (!head.startsWith(`HTTP/1.1 ${SWITCHING_PROTOCOLS} `)) {
        reject(new Error(head));
        return;
      }
      socket.on('data', read);
      read(Buffer.from(head.slice(end + 4), 'latin1'));
      resolve(socket);
    };
    socket.on('data', onHead);
  });
}

const sockets = [];

serve({
  /** Open `count` streams of a gateway, with `paths` in rotation, and parse every `every`th message. */
  async open({ url, count, paths, every = 1 }) {
    parseEvery = every;
    for (let n = 0; n < count; n += 200) {
      const batch = Array.from({ length: Math.min(200, count - n) }, (_, i) =>
        open(new URL(url), paths[(n + i) % paths.length]),
      );
      sockets.push(...(await Promise.all(batch)));
    }
  },
  take() {
    const taken = tally;
    tally = nothing();
    return taken;
  },
  frames: () => tally.frames,
  close() {
    for (const socket of sockets.splice(0)) socket.destroy();
  },
});

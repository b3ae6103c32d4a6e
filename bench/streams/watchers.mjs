// Many WebSocket clients in one process, as light as can be: sockets that count frames and keep the time of the last.
import net from 'node:net';

const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Milliseconds since the epoch, comparable between the processes of one machine. */
const now = () => performance.timeOrigin + performance.now();

/** What all sockets have received since it was last asked for. */
let tally = { frames: 0, bytes: 0, firstAt: 0, lastAt: 0, lateness: [] };

/** The first frame in some bytes of a server, whose frames are not masked; null when it is not all there. */
function firstFrame(data) {
  if (data.length < 2) return null;
  const short = data[1] & 127;
  const start = { 126: 4, 127: 10 }[short] ?? 2;
  if (data.length < start) return null;
  const length = { 126: () => data.readUInt16BE(2), 127: () => Number(data.readBigUInt64BE(2)) }[short]?.() ?? short;
  return data.length < start + length ? null : { isText: (data[0] & 15) === 1, start, end: start + length };
}

/** Read a server's frames; calls back with the payload of each that is text. */
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

/** Every hundredth frame is looked into: its `data.sentAt` is when the event was made. */
function onText(payload) {
  const at = now();
  tally.frames++;
  tally.bytes += payload.length;
  tally.firstAt ||= at;
  tally.lastAt = at;
  if (tally.frames % 100 !== 0) return;
  const { data } = JSON.parse(payload.toString());
  if (data?.sentAt) tally.lateness.push(at - data.sentAt);
}

function open({ port, path }) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
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
      if (!head.startsWith('HTTP/1.1 101')) {
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

const commands = {
  /** Open `count` streams, each of the next of `paths`, over and over. */
  async open({ count, port, paths }) {
    for (let n = 0; n < count; n += 200) {
      const batch = Array.from({ length: Math.min(200, count - n) }, (_, i) =>
        open({ port, path: paths[(n + i) % paths.length] }),
      );
      sockets.push(...(await Promise.all(batch)));
    }
    return sockets.length;
  },
  take() {
    const taken = tally;
    tally = { frames: 0, bytes: 0, firstAt: 0, lastAt: 0, lateness: [] };
    return taken;
  },
  frames: () => tally.frames,
  cpu: () => process.cpuUsage(),
  close() {
    for (const socket of sockets.splice(0)) socket.destroy();
  },
};

process.on('message', async ({ id, command, options }) => {
  try {
    process.send({ id, value: (await commands[command](options)) ?? null });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});

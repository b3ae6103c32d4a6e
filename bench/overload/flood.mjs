// Clients that send requests without waiting for responses, and reconnect when they are cut off.
import net from 'node:net';
import { requestText } from '../load/http.mjs';
import { serve } from '../load/worker.mjs';

const AT_ONCE = 500;

serve({
  /**
   * Send polls as several clients, each over one connection at a time: until each has this number of responses, or the time
   * is up.
   *
   * @returns the number of responses
   */
  async pipeline({ url, key, connections, requests = Number.POSITIVE_INFINITY, seconds = 300 }) {
    const place = new URL(url);
    const text = requestText({ url: place, key, path: '/spaces/flood/jobs/poll', body: '{}' });
    const chunk = text.repeat(AT_ONCE);
    const endsAt = performance.now() + seconds * 1_000;
    let received = 0;

    /** Send over one connection until the service closes it, or the client has its responses. */
    const connectOnce = (wanted) =>
      new Promise((resolve) => {
        const socket = net.connect({ host: place.hostname, port: Number(place.port) });
        let responses = 0;
        const timer = setTimeout(() => socket.destroy(), Math.max(0, endsAt - performance.now()));
        const write = () => {
          while (!socket.destroyed) if (!socket.write(chunk)) return void socket.once('drain', write);
        };
        socket.on('data', (data) => {
          for (let at = data.indexOf('HTTP/1.1 '); at >= 0; at = data.indexOf('HTTP/1.1 ', at + 1)) responses++;
          if (responses >= wanted || data.includes('connection: close')) socket.destroy();
        });
        socket.on('error', () => undefined);
        socket.on('close', () => {
          clearTimeout(timer);
          received += responses;
          resolve(responses);
        });
        write();
      });

    const client = async () => {
      for (let left = requests; left > 0 && performance.now() < endsAt; ) left -= await connectOnce(left);
    };
    await Promise.all(Array.from({ length: connections }, client));
    return received;
  },
});

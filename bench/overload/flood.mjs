// Connections that send requests without waiting for responses.
import net from 'node:net';
import { requestText } from '../load/http.mjs';
import { serve } from '../load/worker.mjs';

const AT_ONCE = 500;

serve({
  /**
   * Send polls over some connections: this number on each, or until the time is over.
   *
   * @returns the number of responses
   */
  async pipeline({ url, key, connections, requests = Number.POSITIVE_INFINITY, seconds = 300 }) {
    const place = new URL(url);
    const text = requestText({ url: place, key, path: '/spaces/flood/jobs/poll', body: '{}' });
    const chunk = text.repeat(AT_ONCE);
    const one = () =>
      new Promise((resolve) => {
        const socket = net.connect({ host: place.hostname, port: Number(place.port) });
        let [sent, received] = [0, 0];
        const timer = setTimeout(() => socket.destroy(), seconds * 1_000);
        const write = () => {
          while (sent < requests && !socket.destroyed) {
            sent += AT_ONCE;
            if (!socket.write(chunk)) return void socket.once('drain', write);
          }
        };
        socket.on('data', (data) => {
          for (let at = data.indexOf('HTTP/1.1 '); at >= 0; at = data.indexOf('HTTP/1.1 ', at + 1)) received++;
          if (received >= requests) socket.destroy();
        });
        socket.on('error', () => undefined);
        socket.on('close', () => {
          clearTimeout(timer);
          resolve(received);
        });
        write();
      });
    const all = await Promise.all(Array.from({ length: connections }, one));
    return all.reduce((sum, received) => sum + received, 0);
  },
});

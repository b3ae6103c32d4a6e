// Watchers that come and go.
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** Streams of spaces at any time; each stays for 2 to 10 s. */
const SPACE_WATCHERS = 8;

/** A gateway's streams. `tally` is counted up. */
export function createStreams({ gatewayUrl, key, tally }) {
  const base = `${gatewayUrl.replace('http', 'ws')}/api/v1/realtime`;

  /** Open a stream; resolves when its first message is there. */
  function open(path, onMessage = () => {}) {
    const socket = new WebSocket(base + path);
    tally.opened++;
    return new Promise((resolve) => {
      socket.on('message', (text) => {
        tally.messages++;
        resolve(socket);
        onMessage(JSON.parse(text.toString()), socket);
      });
      socket.on('error', (error) => tally.faults.push(error.message));
      socket.on('close', (code) => {
        if (![1000, 1005, 1006].includes(code)) tally.faults.push(`closed with ${code}`);
        resolve(socket);
      });
    });
  }

  /** Leave without a word or politely. */
  const leave = (socket, n) => (n % 2 === 0 ? socket.terminate() : socket.close());

  return {
    /** Watch one job: to its end with the key, or as a guest who stays for a moment. */
    async job(id, n) {
      if (n % 3 === 0) {
        const socket = await open(`/${id}`);
        await delay(n % 50);
        leave(socket, n);
        return;
      }
      await open(`/${id}?token=${key}`, ({ status }, socket) => {
        // It may be so from the first message on.
        if (status !== 'completed') return;
        tally.ends++;
        socket.close();
      });
      tally.toTheEnd++;
    },
    /** Keep some watchers on spaces until the signal says that it is enough. */
    async spaces(spaces, signal) {
      const one = async (_, lane) => {
        for (let n = lane; !signal.aborted; n += SPACE_WATCHERS) {
          const socket = await open(`/spaces/${spaces[n % spaces.length]}?token=${key}`);
          await delay(2_000 + Math.random() * 8_000, undefined, { signal }).catch(() => {});
          leave(socket, n);
        }
      };
      await Promise.all(Array.from({ length: SPACE_WATCHERS }, one));
    },
  };
}

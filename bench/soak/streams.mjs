// Watchers that open and close streams.
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** Concurrent streams of spaces; each stays open for 2 to 10 s. */
const SPACE_WATCHERS = 8;

/** Make watchers of a gateway, which count in `tally`. */
export function createStreams({ gatewayUrl, key, tally }) {
  const base = `${gatewayUrl.replace('http', 'ws')}/api/v1/realtime`;

  /** Open a stream; resolves with its first message. */
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

  /** Close the socket, with or without a close frame. */
  const leave = (socket, n) => (n % 2 === 0 ? socket.terminate() : socket.close());

  return {
    /** Watch one job: with the key to its end, or without a key for a moment. */
    async job(id, n) {
      if (n % 3 === 0) {
        const socket = await open(`/${id}`);
        await delay(n % 50);
        leave(socket, n);
        return;
      }
      await open(`/${id}?token=${key}`, ({ status }, socket) => {
        // The first message may already show the end.
        if (status !== 'completed') return;
        tally.ends++;
        socket.close();
      });
      tally.toTheEnd++;
    },
    /** Keep streams of spaces open until the signal aborts. */
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

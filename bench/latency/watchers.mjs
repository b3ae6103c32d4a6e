// Forked by watched.mjs: watches jobs, and tells when each of their progress messages came.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { now } from '../processes.mjs';

const received = [];

function onMessage(text) {
  const at = now();
  const { type, data } = JSON.parse(text.toString());
  if (type === 'progress') received.push({ sentAt: Number(data.message), at });
}

async function open(url) {
  const socket = new WebSocket(url);
  socket.on('message', onMessage);
  await once(socket, 'message'); // init
  return socket;
}

const [{ gatewayUrl, key, ids }] = await once(process, 'message');
const base = `${gatewayUrl.replace('http', 'ws')}/api/v1/realtime`;
const sockets = await Promise.all(ids.map((id) => open(`${base}/${id}?token=${key}`)));
process.send('ready');
await once(process, 'message');
for (const socket of sockets) socket.terminate();
const { user, system } = process.cpuUsage();
process.send({ received, cpuMs: (user + system) / 1000 });
// Ends when it is disconnected, also by the end of its parent.

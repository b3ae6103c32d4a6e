// What a Node process holds once its garbage is gone. Left alone it collects that every few minutes under a light load,
// and between two such times a leak cannot be seen; so it is told to, through its inspector.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { freePort } from '../processes.mjs';

/**
 * What runs in the process. Once it has been looked at it compiles nothing more: V8 goes on for many minutes optimising
 * what is called often, each time by some KB of code and what belongs to it, and that would look like a slow leak.
 */
const COLLECT = `(() => {
  const { getBuiltinModule } = process;
  const v8 = getBuiltinModule('v8');
  for (const flag of ['--expose-gc', '--no-opt', '--no-flush-bytecode']) v8.setFlagsFromString(flag);
  // A context once, since each takes its memory. Twice, since what has a finalizer goes with the second.
  const gc = (globalThis.collectGarbage ??= getBuiltinModule('vm').runInNewContext('gc'));
  gc();
  gc();
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, externalBytes: external, besideBytes: rss - heapTotal };
})()`;

/**
 * Collect the garbage of the process whose inspector listens on a port, and tell what is left: on the heap, in buffers
 * outside of it (external), and all that is resident beside the heap, these buffers included.
 */
export async function liveMemoryAt(port) {
  const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(webSocketDebuggerUrl);
  await once(socket, 'open');
  socket.send(
    JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: COLLECT, returnByValue: true } }),
  );
  const [text] = await once(socket, 'message');
  socket.close();
  await once(socket, 'close');
  const { result, exceptionDetails } = JSON.parse(text.toString()).result;
  if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
  return result.value;
}

/**
 * Prepare for a process whose memory is to be looked at.
 *
 * @returns `env`, variables to start it with; and `read`, as `liveMemoryAt`
 */
export async function prepareInspector() {
  const port = await freePort();
  return {
    env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` },
    read: () => liveMemoryAt(port),
  };
}

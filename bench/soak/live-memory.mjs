// Measure the memory of a Node process after garbage collection. Under a light load V8 collects only every few minutes, which
// would hide a leak. So this module requests a collection through the inspector.
import { once } from 'node:events';
import { WebSocket } from 'ws';

/**
 * The code that runs in the process. It also stops the optimisation of code, because V8 otherwise optimises for many minutes,
 * each time with some KB of code, which would look like a slow leak.
 */
const COLLECT = `(() => {
  const { getBuiltinModule } = process;
  const v8 = getBuiltinModule('v8');
  for (const flag of ['--expose-gc', '--no-opt', '--no-flush-bytecode']) v8.setFlagsFromString(flag);
  // Make only one context, because each needs memory. Collect twice, because objects with a finalizer need the second time.
  const gc = (globalThis.collectGarbage ??= getBuiltinModule('vm').runInNewContext('gc'));
  gc();
  gc();
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, externalBytes: external, besideBytes: rss - heapTotal };
})()`;

/**
 * Collect the garbage of the process whose inspector listens on a port. @returns the memory that is left: on the heap, in buffers
 * outside of it (external), and all resident memory beside the heap, including these buffers
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
 * Prepare to measure the memory of a new process.
 *
 * @returns `env`, variables for its start; and `read`, as `liveMemoryAt`
 */
export async function prepareInspector() {
  const { freePort } = await import('../free-port.mjs'); // Imported here, because jest cannot load it.
  const port = await freePort();
  return {
    env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` },
    read: () => liveMemoryAt(port),
  };
}

import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Variables for a process whose memory is measured. The process chooses and prints the port of its inspector. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** What remains after a collection: heap, buffers outside it, resident memory without the heap, and open sockets. */
export interface LiveMemory {
  heapBytes: number;
  externalBytes: number;
  besideBytes: number;
  sockets: number;
}

/**
 * The code that runs in the process. It also stops the optimization of code, because V8 optimizes for many minutes and
 * adds some KB of code each time, which would look like a slow leak.
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
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  return { heapBytes: heapUsed, externalBytes: external, besideBytes: rss - heapTotal, sockets };
})()`;

/**
 * Collect the garbage of a process through its inspector and measure the remaining memory. Under a light load, V8 collects
 * only every few minutes, which would hide a leak.
 *
 * @param output all that the process, started with `INSPECTED`, has printed
 */
export async function liveMemoryOf(output: string): Promise<LiveMemory> {
  const [url] = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(output) ?? [];
  if (url === undefined) throw new Error(`no inspector listens:\n${output}`);
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const params = { expression: COLLECT, returnByValue: true };
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
  const [text] = await once(socket, 'message');
  socket.close();
  await once(socket, 'close');
  const { result, exceptionDetails } = JSON.parse(String(text)).result;
  if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
  return result.value;
}

import type { Server } from 'node:http';
import { type HttpSocket, openResponsesOf } from '../connection.js';
import { AT_ONCE, Pipeline } from './pipeline.js';
import { PipelineSchedule } from './pipeline-schedule.js';

const PIPELINE = Symbol('requests that wait on a connection');

type PipelinedSocket = HttpSocket & { [PIPELINE]?: Pipeline };

/**
 * Bound how many requests of one connection are served at once. A client may send requests without waiting for
 * responses (pipelining), and Node would begin to serve all that it reads.
 *
 * Once a connection has sent too many, only some of its bytes are parsed at a time. The others wait as they came, and
 * the socket is paused. Such connections share a short time in each turn of the event loop, so that other clients do
 * not wait.
 */
export function boundPipelines(server: Server): void {
  const schedule = new PipelineSchedule();
  server.on('connection', (socket: PipelinedSocket) => {
    const { parser } = socket;
    if (parser === null) return;
    const begin = parser.onIncoming;
    const open = openResponsesOf(socket);
    let [turn, begun] = [0, 0];
    parser.onIncoming = (req, keepAlive) => {
      if (socket[PIPELINE] === undefined) {
        // A refusal is sent before the next request is parsed: without this count, refusals would not be bounded.
        begun = turn === schedule.currentTurn() ? begun + 1 : 1;
        turn = schedule.currentTurn();
        if (begun <= AT_ONCE && open.size < AT_ONCE) return begin(req, keepAlive);
        socket[PIPELINE] = new Pipeline(socket, { server, begin, schedule });
      }
      return socket[PIPELINE].add(req, keepAlive);
    };
  });
  // Bytes behind an invalid request belong to no request.
  server.prependListener('clientError', (_error, socket) => (socket as PipelinedSocket)[PIPELINE]?.dropBytes());
}

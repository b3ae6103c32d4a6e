// A server whose answers a test decides.
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

/** Start a server. @param answer gets `{method, url, headers, body}`; returns `[status, body, headers]`, or null to hang up */
export async function startFake(answer) {
  const calls = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const { method, url, headers } = request;
    const bytes = Buffer.concat(parts);
    const text = String(headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
    const isNdjson = headers['content-type'] === 'application/x-ndjson';
    const body =
      text === ''
        ? null
        : isNdjson
          ? text
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line))
          : JSON.parse(text);
    const call = { method, url, headers, body };
    calls.push(call);
    const answered = await answer(call, calls.length);
    if (answered === null) return request.socket.destroy();
    const [status, responseBody, more = {}] = answered;
    const isJson = typeof responseBody !== 'string';
    response.writeHead(status, { 'content-type': isJson ? 'application/json' : 'text/html', ...more });
    response.end(isJson ? JSON.stringify(responseBody) : responseBody);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    calls,
    options: { url: `http://127.0.0.1:${server.address().port}`, apiKey: 'secret', space: 'a b' },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

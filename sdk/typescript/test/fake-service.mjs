// A server that answers calls as a test says.
import { createServer } from 'node:http';

/** Start a server. @param answer gets `{method, url, headers, body}`; returns `[status, body, headers]`, or null for none */
export async function startFake(answer) {
  const calls = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const { method, url, headers } = request;
    const call = { method, url, headers, body: text === '' ? null : JSON.parse(text) };
    calls.push(call);
    const answered = await answer(call, calls.length);
    if (answered === null) return request.socket.destroy();
    const [status, body, more = {}] = answered;
    const isJson = typeof body !== 'string';
    response.writeHead(status, { 'content-type': isJson ? 'application/json' : 'text/html', ...more });
    response.end(isJson ? JSON.stringify(body) : body);
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

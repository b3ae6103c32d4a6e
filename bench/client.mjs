// Calls of the API as a program makes them that makes many: over connections that are kept.
import http from 'node:http';

/**
 * Make the function that calls.
 *
 * @param connections at most; they take turns, so that there are soon as many as ever and none is idle for long
 * @returns `call(method, path, body)`, path below /api/v1: status and parsed body of whatever was answered; and `close`
 */
export function createClient({ url, key, connections }) {
  // A connection that is idle is closed here before the API does so: a call must not meet that.
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo', timeout: 30_000 });
  const call = (method, path, body) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const headers = { 'x-api-key': key, 'content-length': Buffer.byteLength(text) };
      if (text !== '') headers['content-type'] = 'application/json';
      const request = http.request(`${url}/api/v1${path}`, { method, agent, headers }, (response) => {
        let answer = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => (answer += chunk));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(answer) }));
      });
      request.on('error', reject);
      request.end(text);
    });
  return { call, close: () => agent.destroy() };
}

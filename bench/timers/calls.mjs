// Calls of the API.
import { ADMIN_API_KEY } from '../processes.mjs';

/** A call of the API: its status and what it answered. */
export async function call(api, method, path, body) {
  const headers = { 'x-api-key': ADMIN_API_KEY, 'content-type': 'application/json' };
  const answer = await fetch(`${api.url}/api/v1${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

/** The same, of a call that must succeed. */
export async function mustCall(...request) {
  const { status, body } = await call(...request);
  if (status >= 300) throw new Error(`${request.slice(1, 3).join(' ')}: ${status} ${JSON.stringify(body)}`);
  return body;
}

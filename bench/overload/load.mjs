// A producer that creates jobs at a constant rate, sequential callers, workers that keep their jobs alive, and a tenant that sends
// as much as it can.
import { Connection, requestText } from '../load/http.mjs';
import { atEvenRate, now, serve } from '../load/worker.mjs';

/** Maximum number of connections. While all of them are waiting for a response, creates wait in this process. */
const CONNECTIONS = 3_000;
/** Time after which a create still waiting here is dropped, in milliseconds. */
const SENT_WITHIN_MS = 2_000;

const codeOf = (text) => /"code":"(\w+)"/.exec(text)?.[1] ?? null;

serve({
  /** Create jobs at a constant rate. @returns number, status, code and time in ms of each */
  async offer({ url, key, spaceId, rate, seconds }) {
    const place = new URL(url);
    const idle = [];
    const due = [];
    const outcomes = [];
    let opened = 0;
    let open = 0;

    async function create(connection, { n, dueAt }) {
      open++;
      const body = JSON.stringify({ name: 'work', payload: { n } });
      const request = requestText({ url: place, key, path: `/spaces/${spaceId}/jobs`, body });
      try {
        const { status, text } = await connection.send(request);
        outcomes.push([n, status, status < 300 ? null : codeOf(text), now() - dueAt]);
      } catch {
        outcomes.push([n, null, null, now() - dueAt]);
      }
      open--;
      if (!connection.isOpen) opened--;
      else if (due.length > 0) void create(connection, due.shift());
      else idle.push(connection);
    }

    async function begin(n, dueAt) {
      const connection = idle.pop();
      if (connection !== undefined) return create(connection, { n, dueAt });
      due.push({ n, dueAt });
      while (due.length > 0 && now() - due[0].dueAt > SENT_WITHIN_MS) due.shift();
      if (opened === CONNECTIONS) return;
      opened++;
      const fresh = await Connection.open(place).catch(() => null);
      if (fresh === null) opened--;
      else if (due.length > 0) await create(fresh, due.shift());
      else idle.push(fresh);
    }

    await atEvenRate({ rate, seconds }, (n, dueAt) => void begin(n, dueAt));
    while (open > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const connection of idle) connection.close();
    return outcomes;
  },

  /** Create jobs sequentially over each of some connections. @returns number that succeed per second */
  async capacity({ url, key, spaceId, connections, seconds }) {
    const place = new URL(url);
    const body = JSON.stringify({ name: 'work' });
    const request = requestText({ url: place, key, path: `/spaces/${spaceId}/jobs`, body });
    const end = now() + seconds * 1_000;
    let created = 0;
    const one = async () => {
      const connection = await Connection.open(place);
      while (now() < end) if ((await connection.send(request)).status === 201) created++;
      connection.close();
    };
    await Promise.all(Array.from({ length: connections }, one));
    return created / seconds;
  },

  /**
   * Send requests over many connections as fast as the service responds, rotating through many keys.
   *
   * @param requests method, path and body of each; with a null body, the body is started but never ends
   * @returns number of responses by status
   */
  async attack({ url, keys, requests, connections, seconds }) {
    const place = new URL(url);
    const texts = Array.from({ length: connections }, (_, i) => {
      const { method, path, body } = requests[i % requests.length];
      const text = requestText({ url: place, key: keys[i % keys.length], method, path, body: body ?? '{}' });
      return { text: body === null ? text.slice(0, -1) : text, isWhole: body !== null };
    });
    const end = now() + seconds * 1_000;
    const counts = {};
    const one = async ({ text, isWhole }) => {
      while (now() < end) {
        try {
          const connection = await Connection.open(place);
          const timer = setTimeout(() => connection.close(), Math.max(0, end - now()));
          do {
            const { status } = await connection.send(text);
            counts[status] = (counts[status] ?? 0) + 1;
          } while (now() < end && isWhole);
          clearTimeout(timer);
          connection.close();
        } catch {
          counts.closed = (counts.closed ?? 0) + 1;
        }
      }
    };
    await Promise.all(texts.map(one));
    return counts;
  },

  /** Call each path repeatedly. @returns times in ms, and responses other than 200, by path */
  async probe({ url, key, paths, everyMs, seconds }) {
    const place = new URL(url);
    const end = now() + seconds * 1_000;
    const results = await Promise.all(
      paths.map(async (path) => {
        const connection = await Connection.open(place);
        const request = requestText({ url: place, key, method: 'GET', path });
        const text = path === '/livez' ? request.replace('/api/v1/livez', '/livez') : request;
        const [times, failures] = [[], []];
        while (now() < end) {
          const sentAt = now();
          const { status, text: response } = await connection.send(text);
          times.push(now() - sentAt);
          await new Promise((resolve) => setTimeout(resolve, everyMs));
          if (status !== 200) failures.push(`${status} ${codeOf(response)}`);
        }
        connection.close();
        return [path, { times, failures }];
      }),
    );
    return Object.fromEntries(results);
  },

  /**
   * Make calls at a constant rate, each over its own connection.
   *
   * @returns for each call: total number, number of successes, median time in ms, and other outcomes
   */
  async atRate({ url, key, calls, rate, seconds }) {
    const place = new URL(url);
    const results = {};
    for (const name of Object.keys(calls)) results[name] = { all: 0, succeeded: 0, times: [], failures: {} };
    const make = async (name) => {
      const result = results[name];
      const sentAt = now();
      result.all++;
      let outcome = 'closed';
      try {
        const connection = await Connection.open(place);
        const { status, text } = await connection.send(requestText({ url: place, key, ...calls[name] }));
        connection.close();
        outcome = status < 300 ? 'succeeded' : `${status} ${codeOf(text)}`;
      } catch {
        // The service has closed the connection.
      }
      result.times.push(now() - sentAt);
      if (outcome === 'succeeded') result.succeeded++;
      else result.failures[outcome] = (result.failures[outcome] ?? 0) + 1;
    };
    const open = [];
    await atEvenRate({ rate, seconds }, () => {
      for (const name of Object.keys(calls)) open.push(make(name));
    });
    await Promise.all(open);
    return Object.fromEntries(
      Object.entries(results).map(([name, { times, ...counts }]) => [
        name,
        { ...counts, p50: times.toSorted((a, b) => a - b)[times.length >> 1] },
      ]),
    );
  },

  /** Work on jobs of a space and keep each alive. @returns number of failed jobs */
  async keepAlive({ url, key, spaceId, jobs, timeoutSeconds, everyMs, seconds }) {
    const place = new URL(url);
    const one = async () => {
      const connection = await Connection.open(place);
      const call = (path, body = '') => connection.send(requestText({ url: place, key, path, body }));
      const created = await call(`/spaces/${spaceId}/jobs`, JSON.stringify({ name: 'quiet', timeoutSeconds }));
      const { id } = JSON.parse(created.text);
      await call(`/jobs/${id}/claim`);
      await call(`/jobs/${id}/ack`);
      for (const end = now() + seconds * 1_000; now() < end; ) {
        await new Promise((resolve) => setTimeout(resolve, everyMs));
        await call(`/jobs/${id}/keepalive`);
      }
      const { text } = await connection.send(requestText({ url: place, key, method: 'GET', path: `/jobs/${id}` }));
      connection.close();
      const { status, attemptNumber } = JSON.parse(text);
      return status === 'running' && attemptNumber === 1 ? 0 : 1;
    };
    const failed = await Promise.all(Array.from({ length: jobs }, one));
    return failed.reduce((sum, one) => sum + one, 0);
  },
});

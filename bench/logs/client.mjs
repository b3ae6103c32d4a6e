// A worker as a process of its own: it appends batches as fast as they are answered, so many at once as it is told.
import http from 'node:http';
import { ADMIN_API_KEY, now } from '../processes.mjs';
import { bodiesOf } from './bodies.mjs';

/** Different batches, so that no cache of anybody sees the same one soon again. */
const BODIES = 32;

const agent = new http.Agent({ keepAlive: true });

/** Send a batch and read the answer; the number of entries that were stored. */
function append(url, headers, body) {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } };
    const request = http.request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text).inserted);
        else reject(new Error(`${response.statusCode}: ${text}`));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Append to some jobs in turn for a while; entries stored, and how long that took. */
async function run({ api, jobs, seconds, inFlight, ...form }) {
  const { headers, bodies } = bodiesOf({ ...form, count: BODIES });
  headers['x-api-key'] = ADMIN_API_KEY;
  const urls = jobs.map((id) => new URL(`${api}/api/v1/jobs/${id}/logs`));
  process.send({ isPrepared: true });
  const began = now();
  let [sent, entries] = [0, 0];
  const lane = async () => {
    while (now() - began < seconds * 1000) {
      const nth = sent++;
      const inserted = await append(urls[nth % urls.length], headers, bodies[nth % bodies.length]);
      entries += inserted; // Not in one line with the await: other lanes count meanwhile.
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { entries, seconds: (now() - began) / 1000 };
}

process.on('message', async (options) => {
  process.send(await run(options).catch((error) => ({ error: String(error) })));
});

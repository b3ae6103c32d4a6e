import { HttpClient } from '../support/http.js';

/** Add up samples of a metric over some processes, e.g. `yardmaster_stream_closes_total{code="1013"}`. */
export async function sumOf(urls: readonly string[], sample: string): Promise<number> {
  const values = await Promise.all(urls.map((url) => valueAt(url, sample)));
  return values.reduce((sum, value) => sum + value, 0);
}

async function valueAt(url: string, sample: string): Promise<number> {
  const client = new HttpClient(url);
  try {
    const { text } = await client.call('GET', '/metrics');
    const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
    return Number(line?.slice(sample.length + 1) ?? 0);
  } finally {
    client.close();
  }
}

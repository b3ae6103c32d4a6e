import { type Api, jobWithLogs, readLogs, type Sent } from './reading.js';

/** A query, messages that it must find, and messages that it must not. */
export interface Search {
  q: string;
  finds: string[];
  not: string[];
}

export const titled = (searches: Search[]) =>
  searches.map((search) => ({ ...search, title: JSON.stringify(search.q) }));

/** The messages that a query finds among some entries. */
export async function messagesFound(service: Api, entries: Sent[], q: string): Promise<string[]> {
  const { logs } = await readLogs(service, await jobWithLogs(service, entries), { q });
  return logs.map(({ message }) => message);
}

import type { Page } from '../chromium.js';

/** What a page has done so far. */
export interface Seen {
  /** What must not happen: exceptions, violations of the policy, messages on the console. */
  problems: string[];
  /** Requests and streams that have begun, oldest first: `GET http://…`. */
  requests: string[];
  /** Requests whose responses were read. */
  responses: string[];
}

/** Record what a page does. Its domains Log and Network must be enabled. */
export function watchPage(page: Page): Seen {
  const seen: Seen = { problems: [], requests: [], responses: [] };
  const begun = new Map<string, string>();
  page.on('Network.requestWillBeSent', ({ requestId, request: { method, url } }) => {
    begun.set(requestId, `${method} ${url}`);
    seen.requests.push(`${method} ${url}`);
  });
  page.on('Network.webSocketCreated', ({ url }) => seen.requests.push(url));
  page.on('Network.loadingFinished', ({ requestId }) => seen.responses.push(begun.get(requestId) ?? ''));
  page.on('Runtime.exceptionThrown', ({ exceptionDetails: { text, exception } }) =>
    seen.problems.push(exception?.description ?? text),
  );
  page.on('Runtime.consoleAPICalled', ({ type, args }) =>
    seen.problems.push(`console.${type}: ${JSON.stringify(args)}`),
  );
  // A call that is refused, or has no response, is also logged, and not a problem.
  page.on('Log.entryAdded', ({ entry: { level, source, text } }) => {
    if (level === 'error' && source !== 'network') seen.problems.push(`${source}: ${text}`);
  });
  page.on('Page.javascriptDialogOpening', ({ message }) => seen.problems.push(`dialog: ${message}`));
  return seen;
}

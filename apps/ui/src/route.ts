import { signal } from '@preact/signals';

/**
 * The current page. It is in the hash of the URL, so that it survives a reload and the dashboard works below any path
 * with a single HTML file.
 */
interface Route {
  /** Decoded parts of the path: `#/spaces/demo/jobs` is `['spaces', 'demo', 'jobs']`. */
  path: string[];
  query: URLSearchParams;
}

export type Changes = Record<string, string | readonly string[] | null>;

export const route = signal<Route>(parse(location.hash));

addEventListener('hashchange', () => {
  route.value = parse(location.hash);
});

function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Return the link to a page. */
export function linkTo(path: readonly string[], query: Changes | URLSearchParams = {}): string {
  const text = String(query instanceof URLSearchParams ? query : withChanges(new URLSearchParams(), query));
  return `#/${path.map(encodeURIComponent).join('/')}${text && `?${text}`}`;
}

/** Go to a page. */
export function goTo(path: readonly string[], query: Changes = {}): void {
  location.hash = linkTo(path, query);
}

/** Return the link to this page with some parameters changed; null removes one. */
export function linkWith(changes: Changes): string {
  return linkTo(route.value.path, withChanges(route.value.query, changes));
}

/** Change some parameters of this page. Changes while typing replace the history entry instead of adding one. */
export function changeQuery(changes: Changes, { isReplaced = false } = {}): void {
  const link = linkWith(changes);
  if (link === location.hash) return;
  if (!isReplaced) {
    location.hash = link;
    return;
  }
  history.replaceState(null, '', link);
  route.value = parse(link);
}

function withChanges(query: URLSearchParams, changes: Changes): URLSearchParams {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    changed.delete(name);
    for (const one of [value ?? []].flat()) if (one !== '') changed.append(name, one);
  }
  return changed;
}

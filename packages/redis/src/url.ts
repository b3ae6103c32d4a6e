/** A host and port in a REDIS_URL. */
export interface Node {
  host: string;
  port: number;
}

/** Username and password for Redis. */
interface Login {
  username?: string;
  password?: string;
}

/** TLS parameters of a REDIS_URL. Files are paths of PEM files. */
export interface TlsFiles {
  /** Certificates of the authorities to trust, instead of the system's. */
  ca?: string;
  /** Client certificate, if Redis requires one, and its key. */
  cert?: string;
  key?: string;
  /** Name that the server's certificate must match, if it isn't the host. */
  servername?: string;
}

interface Common extends Login {
  /** Null for no TLS. */
  tls: TlsFiles | null;
}

/** Address of Redis, for every kind of deployment. */
export type RedisAddress =
  | ({ kind: 'socket'; path: string } & Common)
  | ({ kind: 'single'; node: Node; db: number } & Common)
  | ({ kind: 'sentinel'; nodes: Node[]; name: string; db: number; sentinel: Login } & Common)
  | ({ kind: 'cluster'; nodes: Node[] } & Common);

/** Error of an invalid REDIS_URL. Its message is appended to the name of the variable. */
export class RedisUrlError extends Error {}

const TLS_PARAMETERS = ['ca', 'cert', 'key', 'servername'] as const;
const SENTINEL_PARAMETERS = ['sentinelUsername', 'sentinelPassword'] as const;

// Our own pattern, because WHATWG URLs can't have several hosts.
const URL_SHAPE = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

const FORMS =
  'redis://host:port/db, redis+sentinel://host:port,…/name, redis+cluster://host:port,…, each also as rediss for TLS, or unix:///path';

/**
 * Parse a REDIS_URL. Special characters in the username and password must be percent-encoded.
 *
 * @throws RedisUrlError
 */
export function parseRedisUrl(url: string): RedisAddress {
  if (/^unix:\/\/\/./.test(url)) return { kind: 'socket', path: url.slice('unix://'.length), tls: null };
  const [, scheme, kind, login, hosts = '', path = '', query] = URL_SHAPE.exec(url) ?? fail(`must be ${FORMS}`);
  const isTls = scheme === 'rediss';
  const parameters = parametersOf(query, [
    ...(isTls ? TLS_PARAMETERS : []),
    ...(kind === 'sentinel' ? SENTINEL_PARAMETERS : []),
  ]);
  const { sentinelUsername, sentinelPassword, ...files } = parameters;
  const common = { ...loginOf(login), tls: isTls ? (files as TlsFiles) : null };

  if (kind === 'cluster') {
    if (path !== '' && path !== '0') fail('of a cluster must end after its hosts: a cluster has only one database');
    return { kind, nodes: nodesOf(hosts, 6379), ...common };
  }
  if (kind === 'sentinel') {
    const [name = '', db, ...rest] = path.split('/').map(decoded);
    if (name === '' || rest.length > 0) fail('of sentinels must end in the name of the primary: …/name or …/name/db');
    const sentinel = withoutNulls({ username: sentinelUsername, password: sentinelPassword });
    return { kind, nodes: nodesOf(hosts, 26379), name, db: dbOf(db), sentinel, ...common };
  }
  const [node, ...more] = nodesOf(hosts, 6379);
  if (more.length > 0) fail('with several hosts must begin with redis+sentinel:// or redis+cluster://');
  return { kind: 'single', node: node as Node, db: dbOf(path), ...common };
}

/** Return the hosts and ports, or the path, of a REDIS_URL, without its login, for logs. */
export function placeOf(url: string): string {
  const address = parseRedisUrl(url);
  if (address.kind === 'socket') return address.path;
  const nodes = address.kind === 'single' ? [address.node] : address.nodes;
  return nodes.map(({ host, port }) => `${host}:${port}`).join(',');
}

function fail(message: string): never {
  throw new RedisUrlError(message);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fail('must be valid percent-encoding: a % in a password is %25');
  }
}

function withoutNulls<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')) as never;
}

function loginOf(login: string | undefined): Login {
  const [, username, password] = /^([^:]*)(?::(.*))?$/.exec(login ?? '') ?? [];
  return withoutNulls({ username: decoded(username ?? ''), password: decoded(password ?? '') });
}

function nodesOf(hosts: string, byDefault: number): Node[] {
  return hosts.split(',').map((text) => {
    const [, v6, name, port] = /^(?:\[([\da-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
    const number = port === undefined ? byDefault : Number(port);
    const host = v6 ?? name;
    if (host === undefined || number < 1 || number > 65_535)
      fail('must name each host as host or host:port; a / or @ in a password is written %2F or %40');
    return { host, port: number };
  });
}

function dbOf(text: string | undefined): number {
  if (!/^\d{0,4}$/.test(text ?? '')) fail('must end in the number of a database, or after its host');
  return Number(text ?? 0);
}

function parametersOf(query: string | undefined, allowed: readonly string[]): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const part of (query ?? '').split('&').filter((text) => text !== '')) {
    const [name, value] = part.split(/=(.*)/s);
    if (!allowed.includes(name as string)) {
      fail(`has no parameter "${name}"${allowed.length > 0 ? `: here it may have ${allowed.join(', ')}` : ' here'}`);
    }
    parameters[name as string] = decoded(value ?? '');
  }
  return parameters;
}

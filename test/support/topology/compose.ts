import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** What docker-compose.yml says of a service, as far as we read it. */
export interface ComposeService {
  image: string;
  command: string[];
  /** Null: passed on from whoever starts it. */
  environment?: Record<string, string | null>;
  volumes?: string[];
  deploy?: { replicas?: number };
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
}

export const COMPOSE_FILE = fileURLToPath(new URL('../../../docker-compose.yml', import.meta.url));

/** Read docker-compose.yml. */
export function readCompose(): ComposeFile {
  return parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true }) as ComposeFile;
}

/** One of our own images, as a process of this machine. */
export interface Command {
  args: string[];
  env: Record<string, string>;
}

export interface CommandOptions {
  /** Values for variables that the service passes on; others of them stay unset. */
  given: Record<string, string>;
  /** Values instead of those that only hold among containers. */
  replaced: Record<string, string>;
  /** Folder of this machine for each named volume. */
  volumes: Record<string, string>;
}

/** What to run for a service: its command, its variables and its volumes, with what differs outside a container. */
export function commandOf(service: ComposeService, { given, replaced, volumes }: CommandOptions): Command {
  const [program, ...args] = service.command;
  if (program !== 'node') throw new Error(`not a command of ours: ${program}`);
  const paths = Object.fromEntries(
    (service.volumes ?? []).map((volume) => volume.split(':')).map(([name, path]) => [path, volumes[name as string]]),
  );
  const here = (text: string) =>
    Object.entries(paths).reduce((result, [path, dir]) => result.replaceAll(`${path}/`, `${dir}/`), text);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(service.environment ?? {})) {
    const set = replaced[name] ?? given[name] ?? value;
    if (set !== null) env[name] = set;
  }
  // `$$` is how Compose spells a `$`.
  return { args: args.map((arg) => here(arg.replaceAll('$$', '$'))), env };
}

/** Names of variables that a service can be given. */
export const passedOn = (service: ComposeService): string[] =>
  Object.entries(service.environment ?? {})
    .filter(([, value]) => value === null)
    .map(([name]) => name);

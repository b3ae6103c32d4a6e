import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The fields of a service in docker-compose.yml that the tests read. */
export interface ComposeService {
  image: string;
  command: string[];
  /** Null, or `${NAME-default}`: passed on from the environment of `docker compose`. */
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

/** A service of our own image, as a process of this machine. */
export interface Command {
  args: string[];
  env: Record<string, string>;
}

export interface CommandOptions {
  /** Values of variables that the service passes on; the others stay unset. */
  given: Record<string, string>;
  /** Values that replace those which are only valid among containers. */
  replaced: Record<string, string>;
  /** Folder of this machine for each named volume. */
  volumes: Record<string, string>;
}

/** Return the command and the environment of a service, adapted to a machine without containers. */
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
    const set = replaced[name] ?? given[name] ?? value?.replace(DEFAULT, '$2') ?? null;
    if (set !== null) env[name] = here(set);
  }
  // Compose writes `$` as `$$`.
  return { args: args.map((arg) => here(arg.replaceAll('$$', '$'))), env };
}

/** A variable that is passed on, with a default: its name and the default. */
const DEFAULT = /^\$\{(\w+)-(.*)\}$/;

/** Return the names of the variables that a service passes on. */
export const passedOn = (service: ComposeService): string[] =>
  Object.entries(service.environment ?? {})
    .filter(([name, value]) => value === null || DEFAULT.exec(value)?.[1] === name)
    .map(([name]) => name);

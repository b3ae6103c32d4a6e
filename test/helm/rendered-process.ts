import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Manifest } from './chart.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Read one key of a rendered Secret, as a pod gets it. */
export function secretValue(manifests: Manifest[], name: string, key: string): string {
  const secret = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name);
  if (secret?.data[key] === undefined) throw new Error(`no key ${key} in a Secret ${name}`);
  return Buffer.from(secret.data[key], 'base64').toString();
}

/** Return the environment of a container: its ConfigMaps, and then each variable of `env`. */
export function environmentOf(manifests: Manifest[], container: Manifest): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const { configMapRef } of container.envFrom ?? []) {
    const map = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef.name);
    if (map === undefined && !configMapRef.optional) throw new Error(`no ConfigMap ${configMapRef.name}`);
    Object.assign(environment, map?.data);
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const ref = valueFrom?.secretKeyRef;
    environment[name] = ref ? secretValue(manifests, ref.name, ref.key) : value;
  }
  return environment;
}

export interface Running {
  child: ChildProcess;
  /** All of its output so far. */
  output: () => string;
  /** Resolves with its exit code. */
  exit: Promise<number | null>;
}

/**
 * Run a rendered command as the image does: in the folder of the application, with exactly this environment.
 *
 * @param programs commands of this machine, with arguments, that replace programs of the image; `node` is always replaced
 */
export function run(command: string[], env: Record<string, string>, programs: Record<string, string[]> = {}): Running {
  const [name = '', ...args] = command;
  const [program, ...first] = { node: [process.execPath], ...programs }[name] ?? [];
  if (program === undefined) throw new Error(`the image has no ${name}`);
  const child = spawn(program, [...first, ...args], { cwd: ROOT, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  return { child, output: () => output, exit };
}

/** Return the port of a probe, which has a name or a number. */
export function portOf(container: Manifest, probed: string | number): number {
  if (typeof probed === 'number') return probed;
  return container.ports.find(({ name }: Manifest) => name === probed).containerPort;
}

/** Return the port of the container behind a named port of a Service. */
export function portBehind(service: Manifest, container: Manifest, name: string): number {
  const { targetPort } = service.spec.ports.find((port: Manifest) => port.name === name);
  return portOf(container, targetPort);
}

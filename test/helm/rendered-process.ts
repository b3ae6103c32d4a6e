import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Manifest } from './chart.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Read one key of a rendered Secret, as a pod would get it. */
export function secretValue(manifests: Manifest[], name: string, key: string): string {
  const secret = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name);
  if (secret?.data[key] === undefined) throw new Error(`no key ${key} in a Secret ${name}`);
  return Buffer.from(secret.data[key], 'base64').toString();
}

/** The environment that Kubernetes would give a container: its ConfigMaps, and then each variable of `env`. */
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
  /** All it has printed so far. */
  output: () => string;
  /** Resolves with its exit code. */
  exit: Promise<number | null>;
}

/**
 * Run a rendered command as the image would: in the folder of the application, with just this environment.
 *
 * @param programs what stands on this machine for the programs of an image, with arguments; `node` is this one
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

/** The port that a probe's name or number stands for. */
export function portOf(container: Manifest, probed: string | number): number {
  if (typeof probed === 'number') return probed;
  return container.ports.find(({ name }: Manifest) => name === probed).containerPort;
}

/** The port of its container that a Service's port of this name leads to. */
export function portBehind(service: Manifest, container: Manifest, name: string): number {
  const { targetPort } = service.spec.ports.find((port: Manifest) => port.name === name);
  return portOf(container, targetPort);
}

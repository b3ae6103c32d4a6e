import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { goCommand } from '../../scripts/go-command.mjs';

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

export const CHART = path('helm/yardmaster');
/** Folder of the JSON schemas that scripts/helm/tools.mjs makes. */
export const SCHEMAS = path('.cache/helm-schemas');

/** The oldest Kubernetes that the chart supports, and the newest that has schemas. */
export const KUBERNETES = ['1.27.16', '1.37.0'] as const;

export const readFile = (relative: string) => readFileSync(path(relative), 'utf8');

/** Names of sets of values. The example of KEDA is a resource, not values. */
export const VALUE_SETS = readdirSync(path('helm/examples')).filter((file) => file !== 'keda.yaml');

/** The fewest values with which the chart renders. */
export const LEAST = { redis: { existingSecret: { name: 'redis' } } };
/** The fewest values with a Redis in the release. */
export const TRIAL = { redis: { internal: { enabled: true } } };

// biome-ignore lint/suspicious/noExplicitAny: a Kubernetes object; kubeconform checks its shape
export type Manifest = any;

export interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Run a tool to its end. */
export function tool(name: 'helm' | 'kubeconform', args: string[], input = ''): Outcome {
  const { status, stdout, stderr } = spawnSync(goCommand(name), args, { input, encoding: 'utf8' });
  return { status, stdout, stderr };
}

export interface RenderOptions {
  /** Default: `yard`. */
  release?: string;
  namespace?: string;
  kubernetes?: string;
}

/** Render the chart, with values as an object or as the name of a set. */
export function template(values: object | string, options: RenderOptions = {}): Outcome {
  const { release = 'yard', namespace = 'jobs', kubernetes = KUBERNETES[1] } = options;
  const file = typeof values === 'string' ? path(`helm/examples/${values}`) : '-';
  const args = ['template', release, CHART, '--namespace', namespace, '--kube-version', kubernetes, '--values', file];
  return tool('helm', args, typeof values === 'string' ? '' : JSON.stringify(values));
}

/** Render the chart and parse the manifests. */
export function render(values: object | string, options: RenderOptions = {}): Manifest[] {
  const { status, stdout, stderr } = template(values, options);
  if (status !== 0) throw new Error(stderr);
  return manifestsIn(stdout);
}

export const manifestsIn = (yaml: string): Manifest[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null);

/** Find the only manifest of a kind whose name has this end. */
export function find(manifests: Manifest[], kind: string, nameEnd = ''): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name.endsWith(nameEnd));
  if (found.length !== 1) throw new Error(`${found.length} of ${kind} …${nameEnd}`);
  return found[0];
}

export const COMPONENTS = ['api', 'gateway', 'scheduler'] as const;

/** Find the manifest of a kind with the label of a component. */
export function ofComponent(manifests: Manifest[], kind: string, component: string): Manifest {
  const isOf = ({ metadata }: Manifest) => metadata.labels['app.kubernetes.io/component'] === component;
  return find(manifests.filter(isOf), kind);
}

/** Find the container of a component. */
export const containerOf = (manifests: Manifest[], component: string): Manifest =>
  ofComponent(manifests, 'Deployment', component).spec.template.spec.containers[0];

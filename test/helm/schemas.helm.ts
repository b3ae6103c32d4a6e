import { expect, it } from '@jest/globals';
import { CHART, KUBERNETES, readFile, SCHEMAS, template, tool, VALUE_SETS } from './chart.js';

/** Names of the files of scripts/helm/schemas.mjs. */
const FILES = '{{.Group}}_{{.ResourceKind}}_{{.ResourceAPIVersion}}.json';

function conforms(yaml: string, kubernetes: string) {
  const locations = [`${SCHEMAS}/{{.NormalizedKubernetesVersion}}/${FILES}`, `${SCHEMAS}/custom/${FILES}`].flatMap(
    (location) => ['-schema-location', location],
  );
  const args = ['-strict', '-output', 'json', '-summary', '-kubernetes-version', kubernetes, ...locations];
  const { resources = [], summary } = JSON.parse(tool('kubeconform', args, yaml).stdout);
  return { faults: resources, valid: summary.valid };
}

const EACH = VALUE_SETS.flatMap((file) => KUBERNETES.map((kubernetes) => [file, kubernetes] as const));

it.each(VALUE_SETS)('the chart passes helm lint with %s', (file) => {
  const args = ['lint', '--strict', '--kube-version', KUBERNETES[1], CHART, '--values', `${CHART}/../examples/${file}`];
  const { status, stdout } = tool('helm', args);
  expect({ status, complaints: stdout.match(/^\[(WARNING|ERROR)\].*/gm) }).toEqual({ status: 0, complaints: null });
});

it.each(EACH)(
  'the chart renders only valid resources with known fields, with %s for Kubernetes %s',
  (file, kubernetes) => {
    const { stdout, stderr } = template(file, { kubernetes });
    expect(stderr).toBe('');
    const { faults, valid } = conforms(stdout, kubernetes);
    expect(faults).toEqual([]);
    expect(valid).toBe(stdout.match(/^kind:/gm)?.length);
  },
);

it('the example for KEDA conforms to its resource definition', () => {
  expect(conforms(readFile('helm/examples/keda.yaml'), KUBERNETES[1])).toEqual({ faults: [], valid: 1 });
});

it.each([
  ['an unknown field', 'spec:', 'spec:\n  replica: 2'],
  ['a value of the wrong type', 'replicas: 2', 'replicas: many'],
  ['a value that is not in the enumeration', 'imagePullPolicy: IfNotPresent', 'imagePullPolicy: 7'],
])('the check of rendered resources refuses %s', (_, from, to) => {
  const yaml = template('minimal.yaml').stdout;
  const deployment = yaml.split(/^---$/m).find((text) => text.includes('kind: Deployment')) as string;
  expect(conforms(deployment, KUBERNETES[1]).valid).toBe(1);
  expect(conforms(deployment.replace(from, to), KUBERNETES[1]).valid).toBe(0);
});

it('the chart refuses a Kubernetes that is too old', () => {
  expect(template('minimal.yaml', { kubernetes: '1.26.9' }).stderr).toContain('requires kubeVersion: >=1.27.0-0');
});

import { describe, expect, it } from '@jest/globals';
import { COMPONENTS, containerOf, find, type Manifest, ofComponent, render, TRIAL, VALUE_SETS } from './chart.js';

const rendered = new Map(VALUE_SETS.map((file) => [file, render(file)]));
const EACH = VALUE_SETS.flatMap((file) => COMPONENTS.map((component) => [file, component] as const));
const selectorOf = (component: string, release = 'yard') => ({
  'app.kubernetes.io/name': 'yardmaster',
  'app.kubernetes.io/instance': release,
  'app.kubernetes.io/component': component,
});

describe.each(EACH)('chart with %s: %s', (file, component) => {
  const manifests = rendered.get(file) as Manifest[];
  const deployment = ofComponent(manifests, 'Deployment', component);
  const pod = deployment.spec.template;
  const [container] = pod.spec.containers;

  it(`Deployment, Service and disruption budget of the ${component} share one selector, which matches its pods`, () => {
    const labels = selectorOf(component);
    expect(deployment.spec.selector).toEqual({ matchLabels: labels });
    expect(pod.metadata.labels).toMatchObject(labels);
    expect(ofComponent(manifests, 'Service', component).spec.selector).toEqual(labels);
    expect(ofComponent(manifests, 'PodDisruptionBudget', component).spec).toMatchObject({
      selector: { matchLabels: labels },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
    for (const { labelSelector } of pod.spec.topologySpreadConstraints)
      expect(labelSelector.matchLabels).toEqual(labels);
  });

  it(`the ${component} gets either an autoscaler or a fixed number of replicas`, () => {
    const scalers = manifests.filter(
      ({ kind, metadata }) => kind === 'HorizontalPodAutoscaler' && metadata.name.endsWith(`-${component}`),
    );
    expect(scalers.length + (deployment.spec.replicas === undefined ? 0 : 1)).toBe(1);
    for (const { spec } of scalers) {
      expect(spec.scaleTargetRef).toEqual({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: deployment.metadata.name,
      });
      // Utilization is relative to the request.
      expect(container.resources.requests.cpu).toBeDefined();
    }
  });

  it(`the container of the ${component} gets all three probes on the port of its Service`, () => {
    expect(container.ports).toEqual([{ name: 'http', containerPort: 8080 }]);
    expect(ofComponent(manifests, 'Service', component).spec.ports[0].targetPort).toBe('http');
    expect(container.startupProbe.httpGet).toEqual({ path: '/livez', port: 'http' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'http' });
  });

  it(`the grace period of the ${component} covers its sleep and its drain together`, () => {
    const { data } = find(manifests, 'ConfigMap', '-config');
    const sleep = container.lifecycle.preStop.sleep.seconds;
    expect(sleep).toBeGreaterThanOrEqual(5);
    expect(pod.spec.terminationGracePeriodSeconds).toBe(sleep + Number(data.SHUTDOWN_SECONDS) + 10);
  });

  it(`the pods of the ${component} run without privileges`, () => {
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      serviceAccountName: find(manifests, 'ServiceAccount').metadata.name,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        runAsGroup: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).toMatchObject({
      requests: { memory: expect.anything() },
      limits: { memory: expect.anything() },
    });
  });

  it(`the container of the ${component} gets exactly the secrets that it needs`, () => {
    const names = container.env.filter(({ valueFrom }: Manifest) => valueFrom).map(({ name }: Manifest) => name);
    const own = {
      api: ['ADMIN_API_KEY', 'CALLBACK_SIGNING_SECRET'],
      gateway: ['ADMIN_API_KEY'],
      scheduler: ['CALLBACK_SIGNING_SECRET'],
    }[component];
    expect(names).toEqual(['REDIS_URL', ...own]);
  });
});

describe('update of a release', () => {
  const manifests = rendered.get('minimal.yaml') as Manifest[];

  it.each([
    ['api', 0],
    ['gateway', 0],
    ['scheduler', 1],
  ])('an update of the %s keeps all but %d of its replicas ready', (component, atMost) => {
    expect(ofComponent(manifests, 'Deployment', component).spec.strategy.rollingUpdate.maxUnavailable).toBe(atMost);
  });

  const annotationsOf = (values: object) =>
    ofComponent(render({ ...TRIAL, ...values }), 'Deployment', 'gateway').spec.template.metadata.annotations;

  it.each([
    ['a variable', { config: { LOG_LEVEL: 'debug' } }],
    ['the drain', { shutdown: { drainSeconds: 30 } }],
    ['the admin key', { adminKey: { value: 'another-key-of-the-operator-with-32' } }],
  ])('an update restarts the pods after a change of %s', (_, values) => {
    expect(annotationsOf(values)).not.toEqual(annotationsOf({}));
  });

  it('an update without a change restarts no pods, even though secrets rendered without a cluster differ', () => {
    expect(annotationsOf({})).toEqual(annotationsOf({}));
  });
});

it('the chart runs two schedulers by default, and their liveness probes tolerate five minutes without Redis', () => {
  const manifests = rendered.get('minimal.yaml') as Manifest[];
  expect(ofComponent(manifests, 'Deployment', 'scheduler').spec.replicas).toBe(2);
  const { periodSeconds, failureThreshold } = containerOf(manifests, 'scheduler').livenessProbe;
  expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(300);
});

it('the chart writes numbers, durations and flags in the form that the processes read', () => {
  const { data } = find(rendered.get('everything.yaml') as Manifest[], 'ConfigMap', '-config');
  expect(data).toMatchObject({
    MAX_BODY_BYTES: '2097152',
    RETENTION_SECONDS: '2592000',
    DELIVERY_TIMEOUT_SECONDS: '45.5',
    ANONYMOUS_STREAMS: 'false',
    CORS_ORIGINS: '*',
  });
});

it('the selectors of the chart are the same for all values', () => {
  const [minimal, everything] = ['minimal.yaml', 'everything.yaml'].map((file) => rendered.get(file) as Manifest[]);
  for (const component of COMPONENTS) {
    expect(ofComponent(everything as Manifest[], 'Deployment', component).spec.selector).toEqual(
      ofComponent(minimal as Manifest[], 'Deployment', component).spec.selector,
    );
  }
  const own = { 'app.kubernetes.io/component': 'mine', 'app.kubernetes.io/name': 'mine' };
  const relabelled = render({ ...TRIAL, commonLabels: own, api: { podLabels: own } });
  expect(ofComponent(relabelled, 'Deployment', 'api').spec.template.metadata.labels).toEqual(selectorOf('api'));
});

it('commonLabels apply to every resource, and more specific labels override them', () => {
  const team = { team: 'platform' };
  for (const { metadata } of rendered.get('everything.yaml') as Manifest[]) {
    expect(metadata.labels).toMatchObject(team);
  }
  const own = { labels: { team: 'watchers', release: 'prometheus' } };
  const monitoring = { serviceMonitor: { enabled: true, ...own }, rules: { enabled: true, ...own } };
  const manifests = render({ ...TRIAL, commonLabels: { ...team, 'app.kubernetes.io/component': 'mine' }, monitoring });
  for (const kind of ['ServiceMonitor', 'PrometheusRule']) {
    expect(find(manifests, kind).metadata.labels).toMatchObject({
      ...own.labels,
      'app.kubernetes.io/component': 'monitoring',
    });
  }
});

it('the chart truncates long names to the length that Kubernetes allows', () => {
  const release = 'a-release-whose-name-is-as-long-as-helm-takes-it-at-most';
  const names = render('everything.yaml').concat(render(TRIAL, { release: release.slice(0, 53) }));
  for (const { metadata } of names) expect(metadata.name.length).toBeLessThanOrEqual(53);
});

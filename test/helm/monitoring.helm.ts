import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { COMPONENTS, containerOf, find, LEAST, type Manifest, ofComponent, readFile, render, TRIAL } from './chart.js';
import { METRICS } from './metric-names.js';
import { afterAnHour, FOUND } from './promtool.js';
import { portBehind } from './rendered-process.js';

const dashboard = JSON.parse(readFile('helm/yardmaster/dashboards/yardmaster.json'));
const panels: Manifest[] = dashboard.panels.filter(({ type }: Manifest) => type !== 'row');
const everything = render('everything.yaml');
const rules: Manifest[] = find(everything, 'PrometheusRule').spec.groups[0].rules;

/** Labels that Prometheus adds to every series that the ServiceMonitor scrapes, and that are asked for. */
const TARGET_LABELS = ['namespace', 'pod', 'app_kubernetes_io_instance', 'app_kubernetes_io_component'];

const QUERIES: [where: string, query: string][] = [
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }: Manifest) => [title, expr])),
  ...dashboard.templating.list
    .filter(({ type }: Manifest) => type === 'query')
    .map(({ name, definition }: Manifest) => [`variable ${name}`, definition]),
  ...rules.map(({ alert, expr }) => [alert, expr]),
  ...parse(readFile('helm/examples/keda.yaml')).spec.triggers.map(({ metadata }: Manifest) => ['KEDA', metadata.query]),
];

const metricsIn = (query: string) =>
  [...query.matchAll(/\b(?:yardmaster|nodejs|process)_\w+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));

describe.each(QUERIES)('%s: %s', (_, query) => {
  it('asks for metrics that there are, by labels that they have', () => {
    const names = metricsIn(query);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => METRICS[name] === undefined)).toEqual([]);
    const known = [...TARGET_LABELS, 'le', ...names.flatMap((name) => METRICS[name] ?? [])];
    const selected = [...query.matchAll(/[{,]\s*(\w+)\s*=/g)].map(([, label]) => label as string);
    const grouped = [...query.matchAll(/\bby \(([^)]+)\)/g)].flatMap(([, list]) => (list as string).split(/, */));
    expect([...selected, ...grouped].filter((label) => !known.includes(label))).toEqual([]);
  });

  it('joins what every scheduler exports alike by max', () => {
    const gauges = [
      ...query.matchAll(
        /(\w+)(?: by \([^)]+\))?\s*\((yardmaster_(?:queue|callbacks_owed|callbacks_late|backlog)\w*)\{/g,
      ),
    ];
    expect(gauges.map(([, join]) => join).filter((join) => join !== 'max' && join !== 'label_values')).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('shows every metric that there is', () => {
    const shown = new Set(panels.flatMap(({ targets }) => targets).flatMap(({ expr }: Manifest) => metricsIn(expr)));
    expect([...shown].sort()).toEqual(Object.keys(METRICS).sort());
  });

  it('asks nothing that Prometheus cannot read', () => {
    const queries: string[] = panels.flatMap(({ targets }) => targets).map(({ expr }: Manifest) => expr);
    // As Grafana would fill them in.
    const filled = queries.map((query) =>
      query.replaceAll(/\$__(rate_interval|range)/g, '5m').replaceAll(/\$\w+/g, '.*'),
    );
    expect(
      afterAnHour(
        {},
        filled.map((query) => ({ query, gives: {} })),
      ),
    ).toEqual(FOUND);
  });

  it('lets its reader choose the data source, the namespace, the release and the space', () => {
    const names = dashboard.templating.list.map(({ name }: Manifest) => name);
    expect(names).toEqual(['datasource', 'namespace', 'release', 'space']);
    for (const { datasource, targets } of panels) {
      for (const source of [datasource, ...targets.map((target: Manifest) => target.datasource)]) {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own spelling of a variable
        expect(source).toEqual({ type: 'prometheus', uid: '${datasource}' });
      }
      for (const { expr } of targets) expect(expr).toContain('namespace="$namespace"');
    }
  });

  it('has panels that do not lie on each other, each with an id of its own', () => {
    expect(new Set(dashboard.panels.map(({ id }: Manifest) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: Manifest) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...cells.map((cell: string) => Number(cell.split(',')[0])))).toBe(23);
  });

  it('comes whole to the sidecar of Grafana', () => {
    const { metadata, data } = find(everything, 'ConfigMap', '-dashboard');
    expect(metadata.labels.grafana_dashboard).toBe('1');
    expect(metadata.annotations).toEqual({ grafana_folder: 'Jobs' });
    expect(Object.values<string>(data).map((json) => JSON.parse(json))).toEqual([dashboard]);
  });
});

describe('the ServiceMonitor', () => {
  const monitor = find(everything, 'ServiceMonitor');
  const [endpoint] = monitor.spec.endpoints;

  /** Names of the Services that it finds. */
  function found(manifests: Manifest[]): string[] {
    const { matchLabels, matchExpressions } = monitor.spec.selector;
    const finds = (labels: Record<string, string>) =>
      Object.entries(matchLabels).every(([label, value]) => labels[label] === value) &&
      matchExpressions.every(
        ({ key, operator, values }: Manifest) => operator === 'In' && values.includes(labels[key] as string),
      );
    const services = manifests.filter(({ kind, metadata }) => kind === 'Service' && finds(metadata.labels));
    return services.map(({ metadata }) => metadata.name);
  }

  it('finds the Services of the three components, not that of Redis, and no other release', () => {
    expect(found(everything)).toEqual(COMPONENTS.map((component) => `dispatch-${component}`));
    expect(found(render(TRIAL, { release: 'another' }))).toEqual([]);
  });

  it.each(COMPONENTS)('reaches /metrics of %s by a port that its Service has', (component) => {
    const service = ofComponent(everything, 'Service', component);
    const port = portBehind(service, containerOf(everything, component), endpoint.port);
    expect([port, endpoint.path]).toEqual([8080, '/metrics']);
  });

  it('leaves out no pod, ready or not, and sends callers to none that is not ready', () => {
    const manifests = render({ ...LEAST, monitoring: { serviceMonitor: { enabled: true } } });
    const { endpoints } = find(manifests, 'ServiceMonitor').spec;
    expect(endpoints).toEqual([{ port: 'http', path: '/metrics', interval: '30s' }]);
    for (const component of COMPONENTS) {
      expect(ofComponent(manifests, 'Service', component).spec).not.toHaveProperty('publishNotReadyAddresses');
    }
  });

  it.each([
    ['no time-out of its own, which the operator would refuse above a shorter interval', { interval: '5s' }],
    ['the time-out that is set', { interval: '1m', scrapeTimeout: '20s' }],
  ])('gives a scrape %s', (_, times) => {
    const manifests = render({ ...LEAST, monitoring: { serviceMonitor: { enabled: true, ...times } } });
    expect(find(manifests, 'ServiceMonitor').spec.endpoints).toEqual([{ port: 'http', path: '/metrics', ...times }]);
  });

  it('adds the labels that rules and dashboard go by, from labels that the Services have', () => {
    const { targetLabels } = monitor.spec;
    const added = targetLabels.map((label: string) => label.replaceAll(/[./]/g, '_'));
    expect(added).toEqual(TARGET_LABELS.slice(2));
    for (const component of COMPONENTS) {
      expect(Object.keys(ofComponent(everything, 'Service', component).metadata.labels)).toEqual(
        expect.arrayContaining(targetLabels),
      );
    }
  });

  it('adds no label that a metric has itself, which Prometheus would rename', () => {
    const added = [...TARGET_LABELS, 'job', 'instance', 'service', 'endpoint', 'container', 'node'];
    expect(Object.entries(METRICS).filter(([, labels]) => labels.some((label) => added.includes(label)))).toEqual([]);
  });
});

it('has the alerts that docs/operate.md lists', () => {
  const cells = [...readFile('docs/operate.md').matchAll(/^\| (`Yardmaster.+?) \|/gm)].map(
    ([, cell]) => cell as string,
  );
  const listed = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, alert]) => alert));
  const own = find(render({ ...LEAST, monitoring: { rules: { enabled: true } } }), 'PrometheusRule').spec.groups[0]
    .rules;
  expect(listed.sort()).toEqual(own.map(({ alert }: Manifest) => alert).sort());
});

it('scales the gateway on a metric that it exports', () => {
  const metric = ofComponent(everything, 'HorizontalPodAutoscaler', 'gateway').spec.metrics[1].pods.metric.name;
  expect(METRICS[metric]).toBeDefined();
});

it('makes nothing for operators that are not there', () => {
  const kinds = render(LEAST).map(({ apiVersion }) => apiVersion.split('/')[0]);
  expect(new Set(kinds)).toEqual(new Set(['apps', 'policy', 'v1']));
});

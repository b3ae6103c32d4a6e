import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { COMPONENTS, containerOf, find, LEAST, type Manifest, ofComponent, readFile, render, TRIAL } from './chart.js';
import { METRICS } from './metric-names.js';
import { AS_EXPECTED, afterAnHour } from './promtool.js';
import { portBehind } from './rendered-process.js';

const dashboard = JSON.parse(readFile('helm/yardmaster/dashboards/yardmaster.json'));
const panels: Manifest[] = dashboard.panels.filter(({ type }: Manifest) => type !== 'row');
const everything = render('everything.yaml');
const rules: Manifest[] = find(everything, 'PrometheusRule').spec.groups[0].rules;

/** Labels that Prometheus adds to every scraped series, and that queries use. */
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

describe.each(QUERIES)('query of %s: %s', (_, query) => {
  it('a query of alerts, dashboard or KEDA uses only existing metrics and labels', () => {
    const names = metricsIn(query);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => METRICS[name] === undefined)).toEqual([]);
    const known = [...TARGET_LABELS, 'le', ...names.flatMap((name) => METRICS[name] ?? [])];
    const selected = [...query.matchAll(/[{,]\s*(\w+)\s*=/g)].map(([, label]) => label as string);
    const grouped = [...query.matchAll(/\bby \(([^)]+)\)/g)].flatMap(([, list]) => (list as string).split(/, */));
    expect([...selected, ...grouped].filter((label) => !known.includes(label))).toEqual([]);
  });

  it('a query of alerts, dashboard or KEDA aggregates metrics that every scheduler exports by max', () => {
    const gauges = [
      ...query.matchAll(
        /(\w+)(?: by \([^)]+\))?\s*\((yardmaster_(?:queue|callbacks_owed|callbacks_late|backlog)\w*)\{/g,
      ),
    ];
    expect(gauges.map(([, join]) => join).filter((join) => join !== 'max' && join !== 'label_values')).toEqual([]);
  });
});

it('the Grafana dashboard shows every metric', () => {
  const shown = new Set(panels.flatMap(({ targets }) => targets).flatMap(({ expr }: Manifest) => metricsIn(expr)));
  expect([...shown].sort()).toEqual(Object.keys(METRICS).sort());
});

it('the Grafana dashboard contains only queries that Prometheus can parse', () => {
  const queries: string[] = panels.flatMap(({ targets }) => targets).map(({ expr }: Manifest) => expr);
  // Replace variables as Grafana does.
  const filled = queries.map((query) =>
    query.replaceAll(/\$__(rate_interval|range)/g, '5m').replaceAll(/\$\w+/g, '.*'),
  );
  expect(
    afterAnHour(
      {},
      filled.map((query) => ({ query, samples: {} })),
    ),
  ).toEqual(AS_EXPECTED);
});

it('the Grafana dashboard offers variables for the data source, the namespace, the release and the space', () => {
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

it('the Grafana dashboard arranges panels with unique ids without overlap', () => {
  expect(new Set(dashboard.panels.map(({ id }: Manifest) => id)).size).toBe(dashboard.panels.length);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: Manifest) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(Math.max(...cells.map((cell: string) => Number(cell.split(',')[0])))).toBe(23);
});

it('the chart renders the Grafana dashboard unchanged for the sidecar of Grafana', () => {
  const { metadata, data } = find(everything, 'ConfigMap', '-dashboard');
  expect(metadata.labels.grafana_dashboard).toBe('1');
  expect(metadata.annotations).toEqual({ grafana_folder: 'Jobs' });
  expect(Object.values<string>(data).map((json) => JSON.parse(json))).toEqual([dashboard]);
});

describe('ServiceMonitor of a release', () => {
  const monitor = find(everything, 'ServiceMonitor');
  const [endpoint] = monitor.spec.endpoints;

  /** List the names of the Services that it selects. */
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

  it('the ServiceMonitor selects only the Services of the three components of its release', () => {
    expect(found(everything)).toEqual(COMPONENTS.map((component) => `dispatch-${component}`));
    expect(found(render(TRIAL, { release: 'another' }))).toEqual([]);
  });

  it.each(COMPONENTS)('the ServiceMonitor scrapes /metrics of %s on a port of its Service', (component) => {
    const service = ofComponent(everything, 'Service', component);
    const port = portBehind(service, containerOf(everything, component), endpoint.port);
    expect([port, endpoint.path]).toEqual([8080, '/metrics']);
  });

  it('the ServiceMonitor also scrapes pods that are not ready', () => {
    const manifests = render({ ...LEAST, monitoring: { serviceMonitor: { enabled: true } } });
    const { endpoints } = find(manifests, 'ServiceMonitor').spec;
    expect(endpoints).toEqual([{ port: 'http', path: '/metrics', interval: '30s' }]);
    for (const component of COMPONENTS) {
      expect(ofComponent(manifests, 'Service', component).spec).not.toHaveProperty('publishNotReadyAddresses');
    }
  });

  it.each([
    ['no timeout by default, because the operator refuses one above the interval', { interval: '5s' }],
    ['the timeout that is set', { interval: '1m', scrapeTimeout: '20s' }],
  ])('the ServiceMonitor sets for scrapes %s', (_, times) => {
    const manifests = render({ ...LEAST, monitoring: { serviceMonitor: { enabled: true, ...times } } });
    expect(find(manifests, 'ServiceMonitor').spec.endpoints).toEqual([{ port: 'http', path: '/metrics', ...times }]);
  });

  it('the ServiceMonitor adds the labels that rules and dashboard use, from labels of the Services', () => {
    const { targetLabels } = monitor.spec;
    const added = targetLabels.map((label: string) => label.replaceAll(/[./]/g, '_'));
    expect(added).toEqual(TARGET_LABELS.slice(2));
    for (const component of COMPONENTS) {
      expect(Object.keys(ofComponent(everything, 'Service', component).metadata.labels)).toEqual(
        expect.arrayContaining(targetLabels),
      );
    }
  });

  it('the ServiceMonitor adds no label of a metric, which Prometheus would rename', () => {
    const added = [...TARGET_LABELS, 'job', 'instance', 'service', 'endpoint', 'container', 'node'];
    expect(Object.entries(METRICS).filter(([, labels]) => labels.some((label) => added.includes(label)))).toEqual([]);
  });
});

describe('runbooks of the alerts', () => {
  const page = readFile('docs/monitoring.md');
  const own: Manifest[] = find(render({ ...LEAST, monitoring: { rules: { enabled: true } } }), 'PrometheusRule').spec
    .groups[0].rules;
  const names = own.map(({ alert }) => alert).sort();

  it('docs/monitoring.md lists the alerts of the chart with their severities', () => {
    const rows = [...page.matchAll(/^\| \[`(Yardmaster\w+)`\]\(#(\w+)\) \| (\w+) \|/gm)].map(([, ...cells]) => cells);
    expect(rows).toEqual(own.map(({ alert, labels }) => [alert, alert.toLowerCase(), labels.severity]));
  });

  it('docs/monitoring.md explains for each alert what it means, what to check and what to do', () => {
    const sections = [...page.matchAll(/^### (Yardmaster\w+)\n(.*?)(?=^##)/gms)] as unknown as string[][];
    expect(sections.map(([, alert]) => alert).sort()).toEqual(names);
    for (const [, alert, text = ''] of sections) {
      const parts = text.match(/^\*\*.+?:\*\*/gm);
      expect({ alert, parts }).toEqual({ alert, parts: ['**Means:**', '**Look at:**', '**Do:**'] });
    }
  });

  it('each alert links to its section of docs/monitoring.md, or of the page named in the values', () => {
    const linksTo = (base: string, among: Manifest[]) =>
      expect(among.map(({ annotations }) => annotations.runbook_url)).toEqual(
        among.map(({ alert }) => `${base}#${alert.toLowerCase()}`),
      );
    linksTo('https://github.com/yardmaster/yardmaster/blob/main/docs/monitoring.md', own);
    linksTo(
      'https://wiki.example.com/yardmaster',
      rules.filter(({ alert }) => names.includes(alert)),
    );
  });
});

it('the chart scales the gateway by a metric that the gateway exports', () => {
  const metric = ofComponent(everything, 'HorizontalPodAutoscaler', 'gateway').spec.metrics[1].pods.metric.name;
  expect(METRICS[metric]).toBeDefined();
});

it('the chart renders no custom resources by default', () => {
  const kinds = render(LEAST).map(({ apiVersion }) => apiVersion.split('/')[0]);
  expect(new Set(kinds)).toEqual(new Set(['apps', 'policy', 'v1']));
});

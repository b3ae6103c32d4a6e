import { describe, expect, it } from '@jest/globals';
import { VARIABLES } from '@yardmaster/runtime';
import { find, LEAST, type Manifest, ofComponent, render } from './chart.js';

/** List what the Ingresses route: host, path, type of the path, and Service. */
const ingressPaths = (manifests: Manifest[]) =>
  manifests
    .filter(({ kind }) => kind === 'Ingress')
    .flatMap(({ spec }) => spec.rules)
    .flatMap(({ host, http }) =>
      http.paths.map(({ path, pathType, backend: context }: Manifest) => [host, path, pathType, context.service.name]),
    )
    .sort();

describe('exposure of a release', () => {
  const manifests = render('everything.yaml');
  const services = (component: string) => ofComponent(manifests, 'Service', component).metadata.name;

  it('Ingresses route only to the API, the streams and the dashboard', () => {
    expect(ingressPaths(manifests)).toEqual(
      ['jobs.example.com', 'jobs.example.org'].flatMap((host) => [
        [host, '/api/v1/', 'Prefix', services('api')],
        [host, '/api/v1/realtime/', 'Prefix', services('gateway')],
        [host, '/ui', 'Prefix', services('api')],
      ]),
    );
  });

  it('the chart neither serves nor routes to the dashboard when the dashboard is off', () => {
    const exposed = { ingress: { enabled: true, hosts: ['a.example.com'] } };
    const route = { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } };
    const variableOf = (rendered: Manifest[]) => find(rendered, 'ConfigMap', '-config').data.UI;
    expect(variableOf(manifests)).toBe('true');
    const off = render({ ...LEAST, ...exposed, ...route, ui: { enabled: false } });
    expect(variableOf(off)).toBe('false');
    expect(ingressPaths(off).map(([, path]) => path)).toEqual(['/api/v1/', '/api/v1/realtime/']);
    expect(JSON.stringify(find(off, 'HTTPRoute'))).not.toContain('/ui');
  });

  it('Ingresses keep streams open beyond the time-outs of ingress-nginx, and their tokens out of its log', () => {
    const { annotations } = find(manifests, 'Ingress', '-gateway').metadata;
    expect(annotations).toEqual({
      'example.com/dns': 'true',
      'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
      'nginx.ingress.kubernetes.io/proxy-send-timeout': '3600',
      'nginx.ingress.kubernetes.io/enable-access-log': 'false',
    });
    expect(find(manifests, 'Ingress', '-api').metadata.annotations).not.toHaveProperty([
      'nginx.ingress.kubernetes.io/enable-access-log',
    ]);
  });

  it.each(['production.yaml', 'everything.yaml'])(
    'Ingresses let bodies over the limit reach the API, which refuses them, with %s',
    (file) => {
      const rendered = render(file);
      const { annotations } = find(rendered, 'Ingress', '-api').metadata;
      const { MAX_BODY_BYTES = VARIABLES.MAX_BODY_BYTES.default } = find(rendered, 'ConfigMap', '-config').data;
      const [, megabytes] = /^(\d+)m$/.exec(annotations['nginx.ingress.kubernetes.io/proxy-body-size']) ?? [];
      expect(Number(megabytes) * 1_048_576).toBeGreaterThan(Number(MAX_BODY_BYTES));
    },
  );

  it('an HTTPRoute routes to the API, the streams and the dashboard, without a time-out for streams', () => {
    const { rules } = find(manifests, 'HTTPRoute').spec;
    const rows = rules.map(({ matches, timeouts, backendRefs: contextRefs }: Manifest) => [
      matches.map(({ path }: Manifest) => path.value),
      timeouts.request,
      contextRefs,
    ]);
    expect(rows).toEqual([
      [['/api/v1/realtime'], '0s', [{ name: services('gateway'), port: 8080 }]],
      [['/api/v1', '/ui'], '60s', [{ name: services('api'), port: 80 }]],
    ]);
  });

  it('the chart renders no Ingress and no HTTPRoute by default', () => {
    const kinds = render(LEAST).map(({ kind }) => kind);
    expect(kinds.filter((kind) => ['Ingress', 'HTTPRoute'].includes(kind))).toEqual([]);
  });
});

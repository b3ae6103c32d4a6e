import { describe, expect, it } from '@jest/globals';
import { VARIABLES } from '@yardmaster/runtime';
import { find, LEAST, type Manifest, ofComponent, render } from './chart.js';

describe('exposure of a release', () => {
  const manifests = render('everything.yaml');
  const services = (component: string) => ofComponent(manifests, 'Service', component).metadata.name;

  it('routes with Ingresses to the API and to the streams, and to nothing else', () => {
    const paths = manifests
      .filter(({ kind }) => kind === 'Ingress')
      .flatMap(({ spec }) => spec.rules)
      .flatMap(({ host, http }) =>
        http.paths.map(({ path, pathType, backend: context }: Manifest) => [
          host,
          path,
          pathType,
          context.service.name,
        ]),
      );
    expect(paths.sort()).toEqual(
      ['jobs.example.com', 'jobs.example.org'].flatMap((host) => [
        [host, '/api/v1/', 'Prefix', services('api')],
        [host, '/api/v1/realtime/', 'Prefix', services('gateway')],
      ]),
    );
  });

  it('keeps streams open beyond the time-outs of ingress-nginx, and their tokens out of its log', () => {
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
    'lets bodies over the limit reach the API, which refuses them, with %s',
    (file) => {
      const rendered = render(file);
      const { annotations } = find(rendered, 'Ingress', '-api').metadata;
      const { MAX_BODY_BYTES = VARIABLES.MAX_BODY_BYTES.default } = find(rendered, 'ConfigMap', '-config').data;
      const [, megabytes] = /^(\d+)m$/.exec(annotations['nginx.ingress.kubernetes.io/proxy-body-size']) ?? [];
      expect(Number(megabytes) * 1_048_576).toBeGreaterThan(Number(MAX_BODY_BYTES));
    },
  );

  it('routes with an HTTPRoute to the API and to the streams, without a time-out for streams', () => {
    const { rules } = find(manifests, 'HTTPRoute').spec;
    const rows = rules.map(({ matches, timeouts, backendRefs: contextRefs }: Manifest) => [
      matches.map(({ path }: Manifest) => path.value),
      timeouts.request,
      contextRefs,
    ]);
    expect(rows).toEqual([
      [['/api/v1/realtime'], '0s', [{ name: services('gateway'), port: 8080 }]],
      [['/api/v1'], '60s', [{ name: services('api'), port: 80 }]],
    ]);
  });

  it('renders no Ingress and no HTTPRoute by default', () => {
    const kinds = render(LEAST).map(({ kind }) => kind);
    expect(kinds.filter((kind) => ['Ingress', 'HTTPRoute'].includes(kind))).toEqual([]);
  });
});

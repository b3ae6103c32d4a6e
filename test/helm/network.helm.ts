import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { VARIABLES } from '@yardmaster/runtime';
import { isPublic } from '../../apps/scheduler/src/callbacks/ssrf-guard.js';
import { COMPONENTS, find, LEAST, type Manifest, ofComponent, render, TRIAL } from './chart.js';

const policyOf = (manifests: Manifest[], component: string) => ofComponent(manifests, 'NetworkPolicy', component).spec;
const withPolicies = { networkPolicy: { enabled: true } };
const TO_DNS = [
  { protocol: 'UDP', port: 53 },
  { protocol: 'TCP', port: 53 },
];

/** Add a network such as 10.0.0.0/8. */
function add(list: BlockList, cidr: string): void {
  const [address = '', bits] = cidr.split('/');
  list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Return a function that checks whether rules of egress allow connections to an address on any port. */
function reachOf(egress: Manifest[]): (address: string) => boolean {
  const blocks = egress
    .filter(({ ports }) => !ports)
    .flatMap(({ to }) => to.filter(({ ipBlock }: Manifest) => ipBlock))
    .map(({ ipBlock: { cidr, except } }) => {
      const [inside, outside] = [new BlockList(), new BlockList()];
      add(inside, cidr);
      for (const network of except) add(outside, network);
      return { inside, outside };
    });
  return (address) => {
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    return blocks.some(({ inside, outside }) => inside.check(address, family) && !outside.check(address, family));
  };
}

describe('network policy of the scheduler', () => {
  const { egress, ingress } = policyOf(render({ ...LEAST, ...withPolicies }), 'scheduler');
  const reaches = reachOf(egress);

  it.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::200e'])(
    'the network policy of the scheduler allows the public address %s',
    (address) => expect(reaches(address)).toBe(true),
  );

  it.each([
    '10.96.0.1',
    '172.16.0.1',
    '172.31.255.254',
    '192.168.1.1',
    '127.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '168.63.129.16',
    '192.0.0.192',
    '0.0.0.0',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    'fd00:ec2::254',
    'fe80::1',
    '64:ff9b::a00:1',
    '::ffff:10.0.0.1',
    '2002:a00:1::1',
    '2001:0:a00:1::1',
    '2001:db8::1',
    'ff02::1',
  ])('the network policy of the scheduler forbids the internal address %s', (address) =>
    expect(reaches(address)).toBe(false),
  );

  it('the network policy of the scheduler allows exactly the addresses that the process considers public', () => {
    const octets = Array.from({ length: 256 }, (_, i) => i);
    const addresses = [
      ...octets.flatMap((a) => octets.map((b) => `${a}.${b}.255.254`)),
      // Ranges with small reserved networks.
      ...[0, 31, 52, 88, 168, 175].flatMap((b) => octets.map((c) => `192.${b}.${c}.1`)),
      ...octets.flatMap((c) => [`198.51.${c}.1`, `203.0.${c}.1`, `168.63.129.${c}`]),
      ...octets.flatMap((a) => octets.map((b) => `${(a * 256 + b).toString(16)}::1`)),
      ...['2620:4f:8000::1', '2620:4f:8001::1', '2001:4:112::1', '2606:4700::1111'],
      ...octets.flatMap((b) => [`2001:${b.toString(16)}::1`, `2001:${(b * 256).toString(16)}::1`]),
    ];
    expect(addresses.filter((address) => reaches(address) !== isPublic(address))).toEqual([]);
  });

  it('the network policy of the scheduler allows DNS, Redis and public addresses, and calls to its port', () => {
    expect(egress.map(({ ports }: Manifest) => ports)).toEqual([TO_DNS, [{ protocol: 'TCP', port: 6379 }], undefined]);
    expect(ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 'http' }] }]);
  });

  it('the network policy of the scheduler lists only exceptions that lie inside the network they restrict', () => {
    for (const { ipBlock } of egress[2].to) {
      const list = new BlockList();
      add(list, ipBlock.cidr);
      for (const network of ipBlock.except) {
        const [address = ''] = network.split('/');
        expect({ network, inside: list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') }).toEqual({
          network,
          inside: true,
        });
      }
    }
  });
});

describe.each(['api', 'gateway'])('network policy of the %s', (component) => {
  it(`the network policy of the ${component} allows only DNS and Redis, and calls from every client to its port`, () => {
    const { policyTypes, egress, ingress } = policyOf(render({ ...LEAST, ...withPolicies }), component);
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(egress.map(({ ports }: Manifest) => ports)).toEqual([TO_DNS, [{ protocol: 'TCP', port: 6379 }]]);
    expect(ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 'http' }] }]);
  });

  it(`the network policy of the ${component} allows calls from the configured clients and from \`helm test\``, () => {
    const { ingress } = policyOf(render('production.yaml'), component);
    expect(ingress).toHaveLength(1);
    expect(ingress[0].from).toHaveLength(4);
    expect(ingress[0].from[3].podSelector.matchLabels['app.kubernetes.io/component']).toBe('test');
  });
});

describe('network policy of the internal Redis', () => {
  const manifests = render({ ...TRIAL, ...withPolicies });
  const labelsOf = (component: string) =>
    ofComponent(manifests, component === 'redis' ? 'StatefulSet' : 'Deployment', component).spec.selector;

  it('the network policy of the internal Redis allows connections from the three components, and no outgoing ones', () => {
    const { ingress, egress } = policyOf(manifests, 'redis');
    expect(egress).toEqual([]);
    expect(ingress).toEqual([
      {
        ports: [{ protocol: 'TCP', port: 'redis' }],
        from: COMPONENTS.map((component) => ({ podSelector: labelsOf(component) })),
      },
    ]);
  });

  it.each(COMPONENTS)(
    'the network policy of the internal Redis matches the rule that lets the %s connect to it',
    (component) => {
      expect(policyOf(manifests, component).egress[1]).toEqual({
        ports: [{ protocol: 'TCP', port: 6379 }],
        to: [{ podSelector: labelsOf('redis') }],
      });
    },
  );
});

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

  it('the chart neither serves nor routes to the dashboard when the dashboard is disabled', () => {
    const exposed = { ingress: { enabled: true, hosts: ['a.example.com'] } };
    const route = { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } };
    const variableOf = (rendered: Manifest[]) => find(rendered, 'ConfigMap', '-config').data.UI;
    expect(variableOf(manifests)).toBe('true');
    const off = render({ ...LEAST, ...exposed, ...route, ui: { enabled: false } });
    expect(variableOf(off)).toBe('false');
    expect(ingressPaths(off).map(([, path]) => path)).toEqual(['/api/v1/', '/api/v1/realtime/']);
    expect(JSON.stringify(find(off, 'HTTPRoute'))).not.toContain('/ui');
  });

  it('Ingresses keep streams open past the timeouts of ingress-nginx, and keep tokens out of its log', () => {
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

  it('an HTTPRoute routes to the API, the streams and the dashboard, without a timeout for streams', () => {
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

import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { isPublic } from '../../apps/scheduler/src/callbacks/ssrf-guard.js';
import { COMPONENTS, LEAST, type Manifest, ofComponent, render, TRIAL } from './chart.js';

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

  it('the network policy of the scheduler lists only exceptions inside the network that they restrict', () => {
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

  it('the network policy of the internal Redis allows calls from the three components, and no outgoing ones', () => {
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

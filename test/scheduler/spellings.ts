// Hosts of URLs that lead to addresses which are not public.

export interface Spelling {
  host: string;
  /** The loopback address that it means on any machine; null where that is the machine's affair. */
  reaches: '127.0.0.1' | '::1' | 'either' | null;
}

const V4 = [
  '127.0.0.1',
  '127.0.0.1.',
  // One number, in each base.
  '2130706433',
  '2130706433.',
  '0x7f000001',
  '0X7F000001',
  '017700000001',
  // Parts of them.
  '127.1',
  '127.0.1',
  '0177.0.0.1',
  '00000177.0.0.01',
  '0x7f.0x0.0x0.0x1',
  '0x7f.1',
  '0177.0.0x1',
  // What Unicode maps to digits and dots, or to nothing.
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '𝟏𝟐𝟕.𝟎.𝟎.𝟏',
  '127。0。0。1',
  '127．0．0．1',
  '127｡0｡0｡1',
  '127.0.0\u00ad.1',
  '127.0.0.\u200b1',
  '%31%32%37%2e0%2e0%2e1',
  // IPv4 in IPv6.
  '[::ffff:127.0.0.1]',
  '[::FFFF:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
];

/** A name that every system knows, for one of the two or for both. */
const NAMES = [
  'localhost',
  'LOCALHOST',
  'LocalHost',
  'ｌｏｃａｌｈｏｓｔ',
  'ⓛocalhost',
  'loc%61lhost',
  'lo%E2%93%92alhost',
];

const V6 = ['[::1]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::0.0.0.1]'];

/** Most systems, but not all, take them for their own. */
const OWN = ['0', '00', '0x0', '0.0', '0.0.0.0', '[::]', '[0:0:0:0:0:0:0:0]', '[::ffff:0.0.0.0]'];

export const LOOPBACK: Spelling[] = [
  ...V4.map((host) => ({ host, reaches: '127.0.0.1' as const })),
  ...V6.map((host) => ({ host, reaches: '::1' as const })),
  ...NAMES.map((host) => ({ host, reaches: 'either' as const })),
  ...OWN.map((host) => ({ host, reaches: null })),
];

/** Others that are not public, by the registries of IANA and by what clouds answer on. */
export const ELSEWHERE = [
  ...['127.0.0.2', '127.255.255.254', '0.1.2.3', '0x0a000001', '012.0.0.1'],
  ...['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  ...['169.254.0.1', '100.64.0.1', '100.127.255.255', '192.0.0.1', '192.0.0.170', '198.18.0.1', '198.19.255.255'],
  ...['192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '224.0.0.1', '239.255.255.250'],
  ...['240.0.0.1', '255.255.255.254', '255.255.255.255', '4294967295'],
  // Metadata: of most clouds, Alibaba's, Oracle's, Amazon's containers', Azure's.
  ...['169.254.169.254', '2852039166', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]'],
  ...['100.100.100.200', '192.0.0.192', '169.254.170.2', '168.63.129.16', '[fd00:ec2::254]', '[fd20:ce::254]'],
  // IPv4 in IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
  ...['[::ffff:10.0.0.1]', '[::ffff:100.64.0.1]', '[::127.0.0.1]', '[::7f00:1]', '[::a00:1]'],
  ...['[::ffff:0:127.0.0.1]', '[::ffff:0:7f00:1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:0:0:0:0:10.0.0.1]'],
  ...['[64:ff9b:1::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[64:ff9b:1:ffff::a00:1]'],
  ...['[2002:7f00:1::]', '[2002:7f00:1::1]', '[2002:a9fe:a9fe::1]', '[2002:a00:1::1]'],
  ...['[2001::1]', '[2001:0:4136:e378:8000:63bf:80ff:fffe]', '[2001:0000:7f00:1::]'],
  // IPv6: unique local, link-local, site-local, multicast, documentation, discard, benchmarking, ORCHID, segments.
  ...['[fc00::1]', '[fd00::1]', '[fdff:ffff::1]', '[fe80::1]', '[FE80::1]', '[febf::1]', '[fec0::1]'],
  ...['[ff02::1]', '[ff0e::1]', '[ff05::2]', '[2001:db8::1]', '[3fff::1]', '[100::1]', '[2001:2::1]'],
  ...['[2001:10::1]', '[2001:20::1]', '[5f00::1]'],
];

/** What Create Job takes for no URL. */
export const NOT_URLS = [
  // Zone ids.
  ...['http://[fe80::1%25lo]:PORT/', 'http://[fe80::1%lo]:PORT/', 'http://[::1%25lo]:PORT/', 'http://[::1%]:PORT/'],
  // Not quite an address.
  ...['http://::1/', 'http://fe80::1/', 'http://[::1/', 'http://%5B::1%5D:PORT/', 'http://[127.0.0.1]:PORT/'],
  ...['http://256.0.0.1:PORT/', 'http://4294967297:PORT/', 'http://127.0.0.1.1:PORT/', 'http://09.0.0.1:PORT/'],
  ...['http://127..1:PORT/', 'http://[::ffff:127.1]:PORT/', 'http://127.0.0.1%00.example.com:PORT/'],
  ...['http://127.0.0.1,9.9.9.9:PORT/', 'http://127.0.0.1%2f:PORT/'],
  // User names and what could hide a host.
  ...['http://user@127.0.0.1:PORT/', 'http://@127.0.0.1:PORT/', 'http://example.com@127.0.0.1:PORT/'],
  ...['http://example.com:80@127.0.0.1:PORT/', 'http://127.0.0.1:PORT\\@example.com/', 'http:\\\\127.0.0.1:PORT/'],
  ...['http:127.0.0.1:PORT', 'http:/127.0.0.1:PORT/', 'http:///127.0.0.1:PORT/', '//127.0.0.1:PORT/', '127.0.0.1:PORT'],
  ...[' http://127.0.0.1:PORT/', 'http://127.0.0.1:PORT/ ', 'ht\ntp://127.0.0.1:PORT/', 'http://127.0.\t0.1:PORT/'],
  // Not HTTP.
  ...['ftp://127.0.0.1:PORT/', 'file:///etc/passwd', 'gopher://127.0.0.1:PORT/', 'ws://127.0.0.1:PORT/', 'unix:/a:/b'],
  ...['data:text/plain,x', 'javascript:1', 'http+unix://a/b', 'http://127.0.0.1:99999/', 'http://127.0.0.1:-1/', ''],
];

// The DNS of a cluster for tests: addresses of Services, and of the pods behind headless ones; NAME.example.com is the Service NAME
// in the namespace `example`. No other name exists. It asks the API server each time, with the account of its pod.
const dgram = require('node:dgram');
const { readFileSync } = require('node:fs');
const https = require('node:https');

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const ANSWER_SECONDS = 5;
const AUTHORITATIVE_REPLY = 0x8580;
const NO_SUCH_NAME = 3;

/** Read an object of the API server; undefined if there is none. */
function read(path) {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const headers = { authorization: `Bearer ${readFileSync(`${ACCOUNT}/token`, 'utf8')}` };
  const options = { host, port, path, ca: readFileSync(`${ACCOUNT}/ca.crt`), headers, timeout: 2_000 };
  return new Promise((resolve) => {
    const request = https.get(options, (response) => {
      let text = '';
      response.on('data', (part) => (text += part));
      response.on('end', () => resolve(response.statusCode === 200 ? JSON.parse(text) : undefined));
    });
    request.on('error', () => resolve(undefined));
  });
}

/** List the IPv4 addresses of a name; undefined if it does not exist. */
async function addressesOf(name) {
  const [, pod, service, namespace] = /^(?:(.+)\.)?([^.]+)\.([^.]+)\.svc\.cluster\.local$/.exec(name) ?? [];
  const found = service && (await read(`/api/v1/namespaces/${namespace}/services/${service}`));
  if (!found) return undefined;
  if (!pod && found.spec.clusterIP !== 'None') return [found.spec.clusterIP];
  const selector = `labelSelector=kubernetes.io/service-name%3D${service}`;
  const slices = await read(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?${selector}`);
  const endpoints = (slices?.items ?? []).flatMap((slice) => slice.endpoints ?? []);
  const wanted = endpoints.filter(({ hostname, conditions }) => (pod ? hostname === pod : conditions.ready));
  return wanted.flatMap(({ addresses }) => addresses);
}

const socket = dgram.createSocket('udp4');
socket.on('message', async (query, { address, port }) => {
  const labels = [];
  let at = 12; // After the header, the name as labels with their lengths, then the type and the class.
  for (; query[at] > 0; at += query[at] + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]));
  const isIpv4 = query.readUInt16BE(at + 1) === 1;
  const name = labels.join('.').toLowerCase();
  const addresses = await addressesOf(name.replace(/^([^.]+)\.example\.com$/, '$1.example.svc.cluster.local'));
  // Each answer refers to the name in the question.
  const answers = (isIpv4 ? (addresses ?? []) : []).map((ip) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, ANSWER_SECONDS, 0, 4, ...ip.split('.').map(Number)]),
  );
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(AUTHORITATIVE_REPLY | (addresses ? 0 : NO_SUCH_NAME), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt32BE(0, 8);
  socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...answers]), port, address);
});
socket.bind(53);
process.on('SIGTERM', () => process.exit(0));

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { VARIABLES } from '@yardmaster/runtime';
import { validate } from 'dockerfile-utils';
import { ROOT } from '../containers/engine.js';
import { COMPOSE_FILE, passedOn, readCompose } from '../support/topology/compose.js';

const compose = readCompose();
const ours = Object.entries(compose.services).filter(([, { image }]) => image.includes('yardmaster'));

/** The schema of the specification and the rules of a linter, without rules about the order of lines. */
function lint(): string[] {
  const dclint = `${ROOT}node_modules/dclint/bin/dclint.cjs`;
  const { stdout, stderr } = spawnSync(process.execPath, [dclint, '--quiet', '--formatter', 'json', COMPOSE_FILE], {
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  const [{ messages }] = JSON.parse(stdout) as [{ messages: { rule: string; message: string }[] }];
  return messages.filter(({ rule }) => !MEANT.includes(rule)).map(({ rule, message }) => `${rule}: ${message}`);
}

const MEANT = [
  'no-build-and-image', // The image is built here under the name under which it is published.
  'no-unbound-port-interfaces', // The rule does not find the address in the default of the variable.
];

it('docker-compose.yml conforms to the Compose Specification', () => {
  expect(lint()).toEqual([]);
});

it('docker-compose.yml uses the image of this version and can build it', () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  for (const [, service] of ours) {
    expect(service).toMatchObject({ image: `ghcr.io/yardmaster/yardmaster:${version}`, build: '.' });
  }
});

it('docker-compose.yml passes on every variable except those that it sets', () => {
  const fixed = [
    ...['PORT', 'HOST', 'DATA_DIR', 'CLOCK', 'TRUSTED_PROXIES', 'SHUTDOWN_SECONDS', 'REDIS_URL', 'REDIS_URL_FILE'],
    ...['ADMIN_API_KEY', 'CALLBACK_SIGNING_SECRET'], // They are in the files.
  ];
  const expected = Object.keys(VARIABLES).filter((name) => !fixed.includes(name));
  for (const name of ['api', 'gateway', 'scheduler'])
    expect({ name, passed: passedOn(compose.services[name] as never).sort() }).toEqual({
      name,
      passed: expected.sort(),
    });
});

it.each(Object.keys(compose.services))('docker-compose.yml gives %s minimal privileges and a bounded log', (name) => {
  expect(compose.services[name]).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    logging: { options: { 'max-size': expect.any(String) } },
  });
});

it('docker-compose.yml gives each long-running service a health check, a restart policy and a grace period', () => {
  for (const [name, service] of Object.entries(compose.services).filter(([name]) => name !== 'secrets'))
    expect({ name, service }).toMatchObject({
      name,
      service: { healthcheck: {}, restart: 'unless-stopped', stop_grace_period: expect.any(String) },
    });
});

it('docker-compose.yml publishes a single port, only on the loopback interface', () => {
  const shown = Object.values(compose.services).flatMap((service) => (service as { ports?: string[] }).ports ?? []);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Compose writes variables like this
  expect(shown).toEqual(['${YARDMASTER_ADDRESS:-127.0.0.1:8080}:80']);
});

it('the Dockerfile passes a linter', () => {
  expect(validate(readFileSync(`${ROOT}Dockerfile`, 'utf8')).map(({ message, range }) => ({ message, range }))).toEqual(
    [],
  );
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { buildImage, command, commandsIn, docker, withEngine } from '../containers/engine.js';
import { type Installation, type Seen, underLoad } from '../containers/load.js';
import { freePort } from '../support/free-port.js';
import { readCompose } from '../support/topology/compose.js';

/** Most calls that fail when an API is killed: those in flight, and those that are sent before nginx notices. */
const MOST_OF_A_KILL = 15;
/** Most calls that fail while nginx starts again: each create is sent again every 250 ms. */
const MOST_WITHOUT_NGINX = 100;

withEngine('docker-compose.yml', () => {
  let env: Record<string, string>;
  let installation: Installation;

  const compose = (...args: string[]) => command('docker', ['compose', ...args], env);
  const idsOf = async (service: string) => (await compose('ps', '-q', service)).split('\n');
  const scaleApi = (count: number) =>
    compose('up', '-d', '--no-deps', '--no-recreate', '--wait', '--scale', `api=${count}`, 'api');

  beforeAll(async () => {
    const address = `127.0.0.1:${await freePort()}`;
    env = { COMPOSE_PROJECT_NAME: `yardmaster-test-${process.pid}`, YARDMASTER_ADDRESS: address };
    await compose('build');
    await compose('up', '-d', '--wait');
    const key = /ADMIN_API_KEY=(\S+)/.exec(await compose('logs', '--no-log-prefix', '--no-color', 'secrets'))?.[1];
    installation = { url: `http://${address}`, key: key as string };
  }, 900_000);
  afterAll(() => compose('down', '-v'), 120_000);

  /** Check that no job was lost or done twice. */
  const expectAllDone = ({ lost, doubled }: Seen) => expect({ lost, doubled }).toEqual({ lost: 0, doubled: 0 });

  it('docker compose up serves the dashboard, and exposes neither metrics nor probes', async () => {
    const statusOf = async (path: string) => (await fetch(installation.url + path)).status;
    expect(await Promise.all(['/ui/', '/metrics', '/readyz'].map(statusOf))).toEqual([200, 404, 404]);
  });

  it('the API in Compose cannot connect to the internet', async () => {
    const dial = "net.connect(53, '192.0.2.1').on('error', ({ code }) => console.log(code))";
    expect(await compose('exec', '-T', 'api', 'node', '-e', dial)).toBe('ENETUNREACH');
  });

  it.each([
    ['more APIs', async () => scaleApi(3)],
    ['fewer APIs', async () => scaleApi(2)],
    [
      'the rolling upgrade of docs/upgrades.md',
      async () => {
        await buildImage(readCompose().services.api?.image as string, '--label', 'version=next');
        const old = await idsOf('api');
        const shown = commandsIn('docs/upgrades.md', '## Docker Compose').replace('docker compose build', 'true');
        await command('bash', ['-ec', shown], env);
        const now = await Promise.all(['api', 'gateway', 'scheduler'].map(idsOf));
        expect(now.map(({ length }) => length)).toEqual([2, 1, 2]);
        expect(now.flat().filter((id) => old.includes(id))).toEqual([]);
        const labels = await docker('inspect', '-f', '{{.Config.Labels.version}}', ...now.flat());
        expect(new Set(labels.split('\n'))).toEqual(new Set(['next']));
      },
    ],
  ])('no call through Compose fails during %s', async (_, act) => {
    const seen = await underLoad(installation, act);
    expectAllDone(seen);
    expect(seen.failed).toEqual({});
  });

  it('killing an API of Compose fails only calls in flight', async () => {
    const seen = await underLoad(installation, async () => docker('kill', (await idsOf('api'))[0] as string));
    expectAllDone(seen);
    expect(seen.failures).toBeLessThanOrEqual(MOST_OF_A_KILL);
    await scaleApi(2);
  });

  it.each(['gateway', 'nginx', 'redis'])(
    'killing a %s of Compose loses no job, and streams and calls recover',
    async (service) => {
      const seen = await underLoad(installation, async () => {
        const [id] = await idsOf(service);
        await docker('kill', id as string);
        await docker('start', id as string);
      });
      expectAllDone(seen);
      expect(seen.opened).toBeGreaterThan(1);
      if (service === 'gateway') expect(seen.failed).toEqual({});
      if (service === 'nginx') expect(seen.failures).toBeLessThanOrEqual(MOST_WITHOUT_NGINX);
      if (service === 'redis') expect(Object.keys(seen.failed).filter((kind) => !kind.endsWith(' 503'))).toEqual([]);
    },
  );
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { ADMIN_KEY } from '../../support/service.js';
import { Chromium } from '../chromium.js';
import { Dashboard, type Device } from './dashboard.js';

/** Set by jest.config.mjs. */
declare const device: Device;

interface OpenOptions {
  /** Key to sign in with; null for none. Default: the admin key. */
  key?: string | null;
  /** Default 1400. */
  width?: number;
  /** A script that runs before any of the page's. */
  before?: string;
}

/**
 * Start Chromium for the tests of a file, and open dashboards in it, which are closed after each test. No test may leave
 * an exception, a violation of the policy or a message on the console.
 *
 * @param service what serves the dashboard
 */
export function withDashboards(service: { readonly url: string }) {
  let chromium: Chromium;
  let downloads: string;
  const opened: Dashboard[] = [];
  beforeAll(async () => {
    chromium = await Chromium.start();
    downloads = await mkdtemp(join(tmpdir(), 'yardmaster-downloads-'));
  });
  afterEach(async () => {
    const all = opened.splice(0);
    await Promise.all(all.map(({ page }) => page.close()));
    expect(all.flatMap(({ seen }) => seen.problems)).toEqual([]);
  });
  afterAll(async () => {
    await chromium?.stop(); // Undefined if the start failed.
    if (downloads !== undefined) await rm(downloads, { recursive: true });
  });

  /** Open the dashboard in a tab of its own, and sign in. */
  return async function open(
    hash = '',
    { key = ADMIN_KEY, width = 1400, before = '' }: OpenOptions = {},
  ): Promise<Dashboard> {
    const page = await chromium.open('about:blank');
    const dashboard = new Dashboard(page, { url: `${service.url}/ui/`, downloads, device });
    opened.push(dashboard);
    await page.send('Log.enable');
    await page.send('Network.enable');
    await page.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads });
    await page.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
    // Chromium shows one tab, and others would run slower.
    await page.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    await page.send('Page.addScriptToEvaluateOnNewDocument', { source: before });
    await dashboard.go(hash);
    if (key !== null) await dashboard.signIn(key);
    return dashboard;
  };
}

import { expect, it } from '@jest/globals';
import { jobIn } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { withDashboards } from './with-dashboards.js';

// Filters that are in the URL, but that the controls don't offer.

const service = withService();
const open = withDashboards(service);

const chosen = (label: string) =>
  `[...document.querySelectorAll('.filters label')].find((one) => one.innerText.startsWith('${label}'))
    .querySelector('select').selectedOptions[0].text`;

it.each([
  'status=ded',
  'stauts=dead',
  'since=abc',
  'since=1795800000000',
  'before=-1',
  'before=Infinity',
  'tag=',
  'name=',
])('a page with the invalid filter %s shows no jobs and no button to change them', async (filter) => {
  await jobIn(service, 'pending', 'filters-misspelt');
  const dashboard = await open(`#/spaces/filters-misspelt?status=pending&${filter}`);
  await dashboard.waitFor(`Unknown filter in the URL: ${filter}.`);
  expect((await dashboard.names('button')).filter((name) => /match|selected/.test(name))).toEqual([]);
  await dashboard.click('Show all jobs');
  await dashboard.find('Kill all matching jobs…');
});

it('shows a filter with several names and a time that the controls do not offer', async () => {
  for (const name of ['cut', 'glue', 'sew']) await jobIn(service, 'pending', 'filters-shown', { name });
  const dashboard = await open('#/spaces/filters-shown?name=cut&name=sew&since=5');
  await dashboard.waitForTexts('tbody td:nth-child(3)', ['sew', 'cut']);
  expect(await dashboard.page.evaluate(chosen('name'))).toBe('cut or sew');
  expect(await dashboard.page.evaluate(chosen('created'))).toBe('last 5 h');
});

it('isolates each part of a filter in the dialog, so that right-to-left text does not move the others', async () => {
  const tag = '\u202eevil';
  await jobIn(service, 'pending', 'filters-direction', { tags: [tag], payload: { note: 'abc' } });
  const dashboard = await open(`#/spaces/filters-direction?q=abc&tag=${encodeURIComponent(tag)}`);
  await dashboard.click('Kill all matching jobs…');
  await dashboard.waitFor('Kill 1 job');
  const [, ...parts] = await dashboard.texts('dialog .filter-text bdi');
  expect(parts).toEqual([tag, 'abc']);
});

// Generate the page with the results of every scenario.
import { LANGUAGES } from './driver.mjs';

const languages = Object.keys(LANGUAGES);

const titleOf = (file) => {
  const words = file.replace(/^\d+-/, '').replace('.json', '').replaceAll('-', ' ');
  return words[0].toUpperCase() + words.slice(1);
};

/**
 * Return docs/sdk-conformance.md.
 *
 * @param resultOf `(scenario, language)` → `yes`, `no`, or `–` if the scenario doesn't apply to the language
 */
export function pageOf(groups, resultOf) {
  const count = groups.reduce((sum, { scenarios }) => sum + scenarios.length, 0);
  const notes = groups
    .flatMap(({ scenarios }) => scenarios)
    .flatMap(({ name, notFor = {} }) =>
      Object.entries(notFor).map(([language, why]) => `- ${language}, "${name}": ${why}.`),
    );
  const tables = groups.map(({ file, scenarios }) => {
    const rows = scenarios.map(
      (scenario) => `| ${scenario.name} | ${languages.map((language) => resultOf(scenario, language)).join(' | ')} |`,
    );
    return `## ${titleOf(file)}\n\n| Scenario | ${languages.join(' | ')} |\n|---|${'---|'.repeat(languages.length)}\n${rows.join('\n')}\n`;
  });
  return `# SDK conformance

All SDKs pass the same ${count} scenarios against a real service, through a proxy that loses, delays and
resets calls. \`npm run test:long -- conformance\` runs them, in CI as well, and compares the results with
this page. [sdk/conformance](../sdk/conformance/README.md) explains how to write a scenario.

${tables.join('\n')}${notes.length > 0 ? `\nNot applicable (–):\n\n${notes.join('\n')}\n` : ''}`;
}
